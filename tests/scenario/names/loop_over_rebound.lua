--[==[python
l = [new(), new()]
for t in l:
    l = [op(t), op(t)]
    m = op(t)
mark("the first list ended with the loop")
op(new())
]==]
local op, op2 = torch.zeros_like, torch.add
-- a loop holds what it goes over, though its name is rebound
local l = { torch.zeros({ 1 }), torch.zeros({ 1 }) }
for _, t in ipairs(l) do
  l = { op(t), op(t) }
  local m = op(t)
end
phase "the first list ended with the loop"
op(torch.zeros({ 1 }))
