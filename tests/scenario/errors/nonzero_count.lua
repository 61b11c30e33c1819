torch.zeros({ 2, 3 }, torch.int64):nonzero(7)
