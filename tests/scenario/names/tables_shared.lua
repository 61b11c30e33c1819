--[==[python
a = [new()]
b = [a, a]
a = None
op(new())
b[0] = None
op(new())
b[1] = None
op(new())
]==]
local op, op2 = torch.zeros_like, torch.add
local a = { torch.zeros({ 1 }) }
local b = { a, a }
a = nil
op(torch.zeros({ 1 }))
b[1] = nil
op(torch.zeros({ 1 }))
b[2] = nil
op(torch.zeros({ 1 }))
