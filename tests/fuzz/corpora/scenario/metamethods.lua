local op, op2 = torch.zeros_like, torch.add
local a = torch.zeros({ 1 })
local b = torch.zeros({ 1 })
local c = (a + b) * (a + b) + a * b
phase "c"
c = -c * 2 + 1
phase "again"
local d = 1 + (a + (b + (a + -b)))
op(d)
