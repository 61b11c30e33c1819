--[==[python
def f(h):
    while True:
        last = op(h)
        break
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
  while true do
    local last = op(h)
    break
  end
  phase "after the block"
  op(h)
  op(h)
end
f(torch.zeros({ 1 }))
phase "returned"
op(torch.zeros({ 1 }))
