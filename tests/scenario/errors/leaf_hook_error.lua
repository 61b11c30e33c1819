local nn = use "nn"
local p = nn.Parameter(torch.zeros({ 2 }))
torch.register_post_accumulate_grad_hook(p, function(p)
  error("in the hook of " .. tostring(p.shape[1]))
end)
p:sum():backward()
