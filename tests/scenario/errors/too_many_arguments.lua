local x = torch.zeros({ 2, 3 })
local y = torch.relu(x, x)
