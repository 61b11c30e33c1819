local op, op2 = torch.zeros_like, torch.add
-- Lua drops f's frame, Python does not: keep and z live until g has returned
local function g(z) local a = op(z); local b = op(a); return b end
local function f(x) local keep = op(x); local z = op(keep); return g(z) end
local h = torch.zeros({ 1 })
local y = f(h)
op(y)
