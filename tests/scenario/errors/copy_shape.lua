local x = torch.zeros({ 2, 3 })
x:copy_(torch.zeros({ 4, 3 }))
