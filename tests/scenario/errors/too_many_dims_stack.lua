local x = torch.zeros({ 1, 1, 1, 1, 1, 1, 1, 1 })
local y = torch.stack({ x, x })
