-- cudnn.lua: what convolutions take while they run, as a parameter of the scenarios that have some.
local cudnn = {}

cudnn.workspace = { "cudnn_workspace", "estimate", "memory of a running convolution: cuDNN's own choice, so an estimate, or none", one_of = { "estimate", "none" } }

function cudnn.configure(p)
  torch.set_cudnn_workspace(p.cudnn_workspace)
end

return cudnn
