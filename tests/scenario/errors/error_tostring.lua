error(setmetatable({}, { __tostring = function() return "described" end }))
