--[==[python
list = [new()]
a = list[0]
list[0] = None
op(new())
op(a)
a = None
op(new())
]==]
local op, op2 = torch.zeros_like, torch.add
local list = torch.list()
list:append(torch.zeros({ 1 }))
local a = list[1]
list[1] = nil
op(torch.zeros({ 1 }))
op(a)
a = nil
op(torch.zeros({ 1 }))
