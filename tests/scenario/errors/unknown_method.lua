local x = torch.zeros({ 2 })
local y = x:rellu()
