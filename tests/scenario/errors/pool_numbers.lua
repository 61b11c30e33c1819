torch.max_pool2d(torch.zeros({ 1, 3, 8, 8 }), { 2, 2, 2 })
