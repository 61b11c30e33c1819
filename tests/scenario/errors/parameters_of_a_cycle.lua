local nn = use "nn"
local M = nn.class()
function M:init() end
local m = M()
m.child = M()
m.child.parent = m
nn.parameters(m)
