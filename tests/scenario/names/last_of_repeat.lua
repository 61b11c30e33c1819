--[==[python
def f(h):
    i = 0
    while True:
        i = i + 1
        a = op(h)
        last = op(a)
        if i == 3:
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
  local i = 0
  repeat
    i = i + 1
    local a = op(h)
    local last = op(a)
  until i == 3
  phase "after the block"
  op(h)
  op(h)
end
f(torch.zeros({ 1 }))
phase "returned"
op(torch.zeros({ 1 }))
