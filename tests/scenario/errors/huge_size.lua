local x = torch.zeros({ 1 << 60 })
