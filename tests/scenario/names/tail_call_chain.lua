--[==[python
def c(x):
    z = op(x)
    return op(z)
def b(x):
    y = op(x)
    return c(y)
def a(x):
    w = op(x)
    return b(w)
h = a(new())
mark("returned")
op(h)
]==]
local op, op2 = torch.zeros_like, torch.add
local function c(x) local z = op(x); return op(z) end
local function b(x) local y = op(x); return c(y) end
local function a(x) local w = op(x); return b(w) end
local h = a(torch.zeros({ 1 }))
phase "returned"
op(h)
