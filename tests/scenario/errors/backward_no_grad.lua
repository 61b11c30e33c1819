local x = torch.zeros({ 1 })
x:backward()
