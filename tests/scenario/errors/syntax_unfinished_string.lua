local x = "abc
local y = 1
