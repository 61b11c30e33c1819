local x = torch.zeros({ 1 << 40, 1 << 40 })
