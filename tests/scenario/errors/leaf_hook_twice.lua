local nn = use "nn"
local w = nn.Parameter(torch.zeros({ 4 }, "fp32"))
torch.register_post_accumulate_grad_hook(w, function() end)
torch.register_post_accumulate_grad_hook(w, function() end)
