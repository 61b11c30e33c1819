local x = torch.zeros({ 2, 3 })
local y = torch.cat({ x, torch.zeros({ 2, 4 }) }, 0)
