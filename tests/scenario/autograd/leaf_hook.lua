-- A hook at a parameter's gradient: it runs in the backward, once the sum of both uses is there, and what it frees goes after it.
local nn = use "nn"
local a, b = nn.Parameter(torch.zeros({ 1000 })), nn.Parameter(torch.zeros({ 3000 }))
torch.register_post_accumulate_grad_hook(a, function(p)
  local state = torch.zeros_like(p)
  local list = torch.list()
  list:append(p)
  torch.clear_grads(list)
end)
local x = (a * 2.0 + a * 3.0):sum() + (b * 4.0):sum()
phase "backward"
x:backward()
phase "after"
torch.zeros({ 500 })
