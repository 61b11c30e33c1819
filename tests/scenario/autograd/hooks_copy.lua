-- A node keeps what pack made; unpack's tensor lives while the formula runs; the packed value goes after the node.
local hooks = {
  pack = function(x)
    return x:clone()
  end,
  unpack = function(x)
    return x:clone()
  end,
}
local w = torch.zeros({ 4 })
w.requires_grad = true
local function f(x)
  return (x * x):sum()
end
local loss = torch.saved_tensors_hooks(hooks, f, w)
phase "backward"
loss:backward()
phase "after"
torch.zeros({ 1 })
