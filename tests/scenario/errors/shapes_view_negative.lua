local x = torch.zeros({ 10 })
local y = x:view(-5, -2)
