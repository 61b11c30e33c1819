pcall(print)
