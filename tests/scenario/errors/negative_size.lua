local x = torch.zeros({ -4 })
