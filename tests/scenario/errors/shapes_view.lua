local x = torch.zeros({ 2, 3 })
local y = x:view(7)
