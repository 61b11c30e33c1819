-- A list that pack returns is held by the node: emptied by unpack, it is the last holder of what was put into it.
local holders = setmetatable({}, {}) -- weak
local hooks = {
  pack = function(_)
    local holder = torch.list()
    holders[#holders + 1] = holder
    return holder
  end,
  unpack = function(holder)
    if not holder[1] then
      for i = 1, #holders do
        holders[i][1] = torch.zeros({ 4 })
      end
    end
    local x = holder[1]
    holder[1] = nil
    return x
  end,
}
local w = torch.zeros({ 4 })
w.requires_grad = true
local loss = torch.saved_tensors_hooks(hooks, function()
  return (w * w):sum()
end)
note(torch.is_held(holders[1]) and "held" or "not held")
phase "backward"
loss:backward()
note(torch.is_held(holders[1]) and "held" or "not held")
phase "after"
torch.zeros({ 1 })
