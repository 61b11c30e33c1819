local x = torch.zeros({ 1, 1 }):expand(1 << 40, 1 << 40)
