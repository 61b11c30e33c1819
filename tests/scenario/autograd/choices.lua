-- Values chosen by index: topk and index keep indices; in-place division keeps a copy of what was divided.
local w = torch.zeros({ 4, 6 })
w.requires_grad = true
local function forward()
  local scores = w * 1
  local values, indices = torch.topk(scores, 2, -1)
  values:div_(values:sum(-1, true))
  local sorted, order = torch.sort(indices:reshape(-1))
  local rows = values:index(order:floor_divide(2))
  return (rows * 1.0):sum(), sorted
end
local loss = forward()
phase "backward"
loss:backward()
phase "after"
note(w.grad and "w has a gradient" or "no gradient")
torch.zeros({ 1 })
