-- log: none
local w = torch.zeros({ 4 })
w.requires_grad = true
torch.saved_tensors_hooks({ pack = function() error("no packing") end, unpack = function() end }, function()
  return (w * w):sum()
end)
