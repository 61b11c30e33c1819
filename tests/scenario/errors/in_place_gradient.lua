local w = torch.zeros({ 4 })
w.requires_grad = true
local h = w * w
h:lerp_(torch.zeros({ 4 }), 0.5)
