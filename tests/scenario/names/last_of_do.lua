--[==[python
def f(h):
    last = op(h)
    other = op(h)
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
  do
    local last = op(h)
  end
  do
    do local other = op(h) end
  end
  phase "after the block"
  op(h)
  op(h)
end
f(torch.zeros({ 1 }))
phase "returned"
op(torch.zeros({ 1 }))
