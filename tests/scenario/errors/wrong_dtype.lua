local x = torch.zeros({ 2 }, "fp7")
