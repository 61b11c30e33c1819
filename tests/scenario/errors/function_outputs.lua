local f = torch.autograd_function {
  name = "Many",
  forward = function(ctx, x)
    return x, x, x, x, x, x, x, x, x
  end,
  backward = function(ctx, saved)
    return nil
  end,
}
local w = torch.zeros({ 4 })
w.requires_grad = true
f(w)
