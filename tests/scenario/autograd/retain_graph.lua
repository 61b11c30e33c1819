-- retain_graph: a second backward through the same nodes; what they saved stays. A saved tensor without a name is the node's.
local f = torch.autograd_function {
  name = "Scale",
  forward = function(ctx, x)
    ctx.save_for_backward(torch.zeros_like(x))
    local y = x * 2
    return y
  end,
  backward = function(_, saved, grad)
    note(#saved .. " saved, gradient in " .. tostring(grad.dtype))
    return saved[1]
  end,
}
local w = torch.zeros({ 400 })
w.requires_grad = true
local y = f(w)
phase "kept"
y:backward(torch.zeros({ 400 }, torch.bfloat16), true) -- cast to the root's type
phase "released"
y:backward(torch.zeros({ 400 }))
phase "after"
torch.zeros({ 1 })
