local t = setmetatable({}, { __add = function(a, b) return a.x.y end })
local u = t + 1
