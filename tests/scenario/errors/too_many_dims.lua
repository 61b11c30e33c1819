local x = torch.zeros({ 1, 1, 1, 1, 1, 1, 1, 1, 1 })
