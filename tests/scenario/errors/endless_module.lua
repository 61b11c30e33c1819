local nn = use "nn"
local M = nn.class()
function M:init() end
function M:forward(x) return self(x) end
M()(torch.zeros({ 1 }))
