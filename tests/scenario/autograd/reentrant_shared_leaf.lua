-- A leaf that an inner backward reaches before the outer one has delivered to it: both gradients are added.
local w = torch.zeros({ 4 })
w.requires_grad = true
local f = torch.autograd_function {
  name = "Inner",
  forward = function(_, x)
    return x * w
  end,
  backward = function(_, _, grad)
    local x = torch.zeros({ 4 })
    x.requires_grad = true
    local outer = torch.set_grad_enabled(true)
    local y = x * w
    torch.set_grad_enabled(outer)
    y:backward(grad)
    return x.grad
  end,
}
local function forward()
  local a = w * w
  local b = f(a) + w
  return b:sum()
end
local loss = forward()
phase "backward"
loss:backward()
phase "after"
note(w.grad and "w has a gradient" or "no gradient")
torch.zeros({ 1 })
