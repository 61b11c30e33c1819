torch.zeros({ 2, 8 }):gather(1, torch.zeros({ 3, 4 }, torch.int64))
