load("x")
