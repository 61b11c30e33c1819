--[==[python
deep = [[[[[[new()]]]]]]
mark("held six lists deep")
op(new())
op(deep[0][0][0][0][0][0])
deep[0][0][0][0] = None
op(new())
]==]
local op, op2 = torch.zeros_like, torch.add
local deep = { { { { { { torch.zeros({ 1 }) } } } } } }
phase "held six lists deep"
op(torch.zeros({ 1 }))
op(deep[1][1][1][1][1][1])
deep[1][1][1][1] = nil
op(torch.zeros({ 1 }))
