local x = torch.zeros({ 2 })
torch.sofmax(x, 1)
