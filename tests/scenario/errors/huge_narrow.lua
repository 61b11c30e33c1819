local x = torch.zeros({ 4 }):narrow(0, math.maxinteger, math.maxinteger)
