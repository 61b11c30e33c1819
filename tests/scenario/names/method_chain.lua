--[==[python
h = new()
y = h.op().op().op()
mark("named")
y = y.op().op()
op(y.op(), h.op())
]==]
local op, op2 = torch.zeros_like, torch.add
local h = torch.zeros({ 1 })
local y = h:zeros_like():zeros_like():zeros_like()
phase "named"
y = y:zeros_like():zeros_like()
op2(y:zeros_like(), h:zeros_like())
