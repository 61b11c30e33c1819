-- memory: 16
local s = ("x"):rep(1 << 40)
