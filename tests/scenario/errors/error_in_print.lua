print(1, setmetatable({}, { __tostring = function() error("in tostring") end }))
