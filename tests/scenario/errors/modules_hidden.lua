local nn = use "nn"
local Net = nn.class()
function Net:init()
  self.head = nn.Linear(4, 4)
  self.blocks = {}
  for i = 1, 2 do
    self.blocks[i] = nn.Linear(4, 4)
  end
end
use("optim").make("adamw", nn.parameters(Net()))
