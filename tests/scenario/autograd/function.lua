-- forward runs without recording; saved tensors and ctx.holds live with the node; backward's results are the gradients.
local f = torch.autograd_function {
  name = "Double",
  forward = function(ctx, x, held)
    ctx.saved = { x }
    ctx.holds = torch.tensors_in(held)
    local y = x * 2
    return y
  end,
  backward = function(ctx, saved, grad)
    note(#saved .. " saved")
    return grad * 2
  end,
}
local w = torch.zeros({ 4 })
w.requires_grad = true
local function forward()
  local a = w * 1
  return f(a, torch.zeros({ 7 })):sum()
end
local loss = forward()
phase "backward"
loss:backward()
phase "after"
note(w.grad and "w has a gradient" or "no gradient")
torch.zeros({ 1 })
