local x = torch.zeros({ 2 })
x.requires_grad = true
local y = (x * x):sum()
y:backward()
y:backward()
