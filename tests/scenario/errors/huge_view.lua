local x = torch.zeros({ 4 }):view(1 << 40, 1 << 40)
