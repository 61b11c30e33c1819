--[==[python
a = new()
b = new()
c = op(op(op(a), op(b)), op(op(a), op(b)))
mark("c")
d = op(a, op(b, op(a, op(b, c))))
mark("d")
op(d)
]==]
local op, op2 = torch.zeros_like, torch.add
local a = torch.zeros({ 1 })
local b = torch.zeros({ 1 })
local c = op2(op2(op(a), op(b)), op2(op(a), op(b)))
phase "c"
local d = op2(a, op2(b, op2(a, op2(b, c))))
phase "d"
op(d)
