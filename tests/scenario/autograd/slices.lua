-- A slice overwritten: the whole's gradient is copied, its part copied again for the source; the whole gets zeros there.
-- An alias of the whole passes its gradient on; a slice with a step gives zeros of the whole.
local a, b = torch.zeros({ 2, 3 }), torch.zeros({ 2, 5 })
a.requires_grad, b.requires_grad = true, true
local function forward()
  local x, y = a * 1, b * 1
  local whole = torch.empty({ 2, 8 }, torch.float32)
  whole:copy_slice_(x, -1, 0)
  whole:copy_slice_(y, -1, 3)
  return (whole:slice(-1, nil, 8) * 2):slice(-1, 1, nil, 2):sum()
end
local loss = forward()
phase "backward"
loss:backward()
phase "after"
note(a.grad and b.grad and "both have gradients" or "a gradient is missing")
torch.zeros({ 1 })
