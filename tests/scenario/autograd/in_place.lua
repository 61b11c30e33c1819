-- What is written in place keeps its history: other's gradient needs what self was, which is copied first.
local w, v = torch.zeros({ 4 }), torch.zeros({ 4 })
w.requires_grad, v.requires_grad = true, true
local h = w * w
h:mul_(v)
h:sub_(v)
h:sqrt_()
h:mul_(2)
local loss = h:sum()
phase "backward"
loss:backward()
phase "after"
note(w.grad and v.grad and "both have gradients" or "a gradient is missing")
