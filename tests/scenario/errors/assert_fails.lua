local p = 5
assert(p % 2 == 0, "p must be even")
