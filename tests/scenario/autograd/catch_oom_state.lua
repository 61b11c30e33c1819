-- oom: 3
-- Gradient mode and autocast are what they were before the call; copies of autocast go with the region.
local w = torch.zeros({ 4, 4 })
w.requires_grad = true
local function run()
  torch.no_grad(torch.autocast, "bf16", torch.mm, w, torch.zeros({ 4, 4 }, torch.bfloat16))
end
torch.catch_oom(run, function()
  phase "handler"
  note("gradients " .. tostring(torch.is_grad_enabled()) .. ", autocast " .. torch.autocast_dtype())
end)
phase "after"
torch.zeros({ 1 })
