--[==[python
def f(x):
    return op(x)
h = new()
op(h)
z = h + h
f(h)
z = h + h
op(h)
z = -h
op(z)
]==]
local op, op2 = torch.zeros_like, torch.add
-- a register may still hold a result that nobody took when a metamethod runs
local function f(x)
  return op(x)
end
local h = torch.zeros({ 1 })
op(h)
local z = h + h
f(h)
z = h + h
op(h)
z = -h
op(z)
