--[==[python
def f(h):
    for i in range(6):
        if i % 3 == 0:
            p = op(h)
        elif i % 3 == 1:
            q = op(h)
        else:
            r = op(h)
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
  for i = 0, 5 do
    if i % 3 == 0 then
      local p = op(h)
    elseif i % 3 == 1 then
      local q = op(h)
    else
      local r = op(h)
    end
  end
  phase "after the block"
  op(h)
  op(h)
end
f(torch.zeros({ 1 }))
phase "returned"
op(torch.zeros({ 1 }))
