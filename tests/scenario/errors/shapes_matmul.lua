local x = torch.zeros({ 2, 3 })
local w = torch.zeros({ 4, 5 })
local y = x:matmul(w)
