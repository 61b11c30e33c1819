local l = torch.list()
l[3] = torch.zeros({ 1 })
