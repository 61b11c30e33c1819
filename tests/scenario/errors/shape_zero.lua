local x = torch.zeros({ 2, 3 })
print(x.shape[1], x.shape[2], x.shape[3], #x.shape)
local size = x.shape[0]
