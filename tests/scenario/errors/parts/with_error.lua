local x = 1
local y = x.field.other
return {}
