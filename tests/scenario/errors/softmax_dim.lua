local x = torch.zeros({ 2, 3 })
local y = torch.softmax(x, 5)
