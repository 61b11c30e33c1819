error(setmetatable({}, { __tostring = function() error("in tostring") end }))
