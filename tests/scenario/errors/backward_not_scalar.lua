local x = torch.zeros({ 2 })
x.requires_grad = true
local y = x * x
y:backward()
