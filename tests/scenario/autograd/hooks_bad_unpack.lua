-- log: none
local w = torch.zeros({ 4 })
w.requires_grad = true
local loss = torch.saved_tensors_hooks({ pack = function() return 1 end, unpack = function() return 2 end }, function()
  return (w * w):sum()
end)
loss:backward()
