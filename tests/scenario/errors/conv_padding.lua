torch.conv2d(torch.zeros({ 1, 3, 4, 4 }), torch.zeros({ 8, 3, 3, 3 }), nil, { 1 }, { -1 })
