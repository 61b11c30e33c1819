local nn = use "nn"
local layer = nn.Liner(2, 2)
