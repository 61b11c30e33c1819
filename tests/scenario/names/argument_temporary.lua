--[==[python
def f(x):
    x = op(x)
    x = op(x)
    return x
y = f(new())
mark("after")
op(y)
]==]
local op, op2 = torch.zeros_like, torch.add
-- nobody but the parameter holds what the caller did not name
local function f(x) x = op(x); x = op(x); return x end
local y = f(torch.zeros({ 1 }))
phase "after"
op(y)
