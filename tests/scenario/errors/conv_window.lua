torch.conv2d(torch.zeros({ 1, 3, 4, 4 }), torch.zeros({ 8, 3, 7, 7 }), nil, { 2 }, { 1 })
