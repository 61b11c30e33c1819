--[==[python
def f(h):
    for i in range(3):
        a = op(h)
        last = op(a)
    mark("after the block")
    op(h)
    op(h)
f(new())
mark("returned")
op(new())
]==]
local op, op2 = torch.zeros_like, torch.add
-- a name bound by the last statement of a block, with no call after it in the block
local function f(h)
  for i = 1, 3 do
    local a = op(h)
    local last = op(a)
  end
  phase "after the block"
  op(h)
  op(h)
end
f(torch.zeros({ 1 }))
phase "returned"
op(torch.zeros({ 1 }))
