local x, y = torch.zeros({1024}), torch.zeros({2048})
local m = { weight = x }
_nn.replace(m, "weight", y)
local z = x + y
print(z)
