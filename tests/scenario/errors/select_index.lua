local x = torch.zeros({ 2, 3 })
local y = x:select(0, 7)
