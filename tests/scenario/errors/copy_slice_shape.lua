torch.zeros({ 2, 8 }):copy_slice_(torch.zeros({ 3, 4 }), 1, 0)
