local x = torch.zeros({ 2, 3 })
local y = x + torch.zeros({ 2, 4 })
