local x = torch.zeros({4})
local y = torch.cat({x,x})
print(torch.catch_stop())
