local nn = use "nn"
local M = nn.class()
function M:init() end
M()(torch.zeros({ 1 }))
