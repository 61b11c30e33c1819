--[==[python
def apply(f, x):
    y = f(x)
    return f(y)
def g(x):
    return op(op(x))
r = apply(g, new())
r = apply(lambda x: op(x), r)
op(r)
]==]
local op, op2 = torch.zeros_like, torch.add
local function apply(f, x)
  local y = f(x)
  return f(y)
end
local function g(x)
  return op(op(x))
end
local r = apply(g, torch.zeros({ 1 }))
r = apply(function(x) return op(x) end, r)
op(r)
