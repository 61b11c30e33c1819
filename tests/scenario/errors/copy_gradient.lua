local w = torch.zeros({ 4 })
w.requires_grad = true
torch.zeros({ 4 }):copy_(w)
