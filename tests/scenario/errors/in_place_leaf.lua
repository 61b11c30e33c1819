local w = torch.zeros({ 4 })
w.requires_grad = true
w:add_(1)
