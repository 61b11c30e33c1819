local t = setmetatable({}, { __index = function(_, key) error("no " .. key) end })
local u = t.field
