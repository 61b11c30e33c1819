-- `holds` lives as long as anything that was packed.
local hooks = {
  holds = torch.tensors_in(torch.zeros({ 7 })),
  pack = function(x)
    return x
  end,
  unpack = function(x)
    return x
  end,
}
local w = torch.zeros({ 4 })
w.requires_grad = true
local loss = torch.saved_tensors_hooks(hooks, function()
  return (w * w):sum()
end)
hooks = nil
phase "backward"
loss:backward()
phase "after"
torch.zeros({ 1 })
