error(42, 0)
