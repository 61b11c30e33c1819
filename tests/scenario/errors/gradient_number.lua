local f = torch.autograd_function {
  name = "Wrong",
  forward = function(ctx, x)
    return x * 2
  end,
  backward = function(ctx, saved, grad)
    return 2
  end,
}
local w = torch.zeros({ 4 })
w.requires_grad = true
f(w):sum():backward()
