torch.zeros({ 2, 3 }):index_add_(0, torch.zeros({ 4 }, torch.int64), torch.zeros({ 3, 3 }))
