-- oom: 8
-- A backward that is out of memory lets the gradients on their way go; the graph dies with its names.
local w = torch.zeros({ 4 })
w.requires_grad = true
local function run()
  local a = w * w
  local b = a * a
  local loss = b:sum()
  phase "backward"
  loss:backward()
end
torch.catch_oom(run, function()
  phase "handler"
  torch.zeros({ 1 })
end)
phase "after"
torch.zeros({ 1 })
