local nn = use "nn"
local layer = nn.Linear("wide", 4)
