local x = torch.zeros({ 2, 3 })
x:add_(torch.zeros({ 4 }))
