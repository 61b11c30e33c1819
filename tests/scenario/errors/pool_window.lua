torch.max_pool2d(torch.zeros({ 1, 3, 2, 2 }), { 3 }, { 2 })
