--[==[python
def f(x):
    x = op(x)
    x = op(x)
    return x
h = new()
y = f(h)
mark("h is still named")
op(h)
]==]
local op, op2 = torch.zeros_like, torch.add
-- t1 lives while the caller names it, though the callee rebinds its argument
local function f(x) x = op(x); x = op(x); return x end
local h = torch.zeros({ 1 })
local y = f(h)
phase "h is still named"
op(h)
