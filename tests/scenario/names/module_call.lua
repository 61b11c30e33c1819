--[==[python
class Block(Module):
    def forward(self, x):
        x = op(x)
        x = op(x)
        return x
block = Block()
h = new()
h = block(h)
mark("the call held its argument")
h = block(block(h))
op(h)
]==]
local op, op2 = torch.zeros_like, torch.add
-- a module's call holds its arguments until it returns
local nn = use "nn"
local Block = nn.class()
function Block:init() end
function Block:forward(x)
  x = op(x)
  x = op(x)
  return x
end
local block = Block()
local h = torch.zeros({ 1 })
h = block(h)
phase "the call held its argument"
h = block(block(h))
op(h)
