local x = 1 +
return {}
