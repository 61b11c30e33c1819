torch.zeros({ 2, 3 }):index_pairs(torch.zeros({ 2 }, torch.int64), torch.zeros({ 3 }, torch.int64))
