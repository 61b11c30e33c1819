-- limit: 1000000
error(setmetatable({}, { __tostring = function() while true do end end }))
