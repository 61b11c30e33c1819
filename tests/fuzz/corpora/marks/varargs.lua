--[==[python
def f(*args):
    y = op(args[0])
    y = op(y)
    return y
def g(*args):
    return f(*args)
r = f(new(), new())
mark("once more")
r = g(new(), new())
op(r)
]==]
local op, op2 = torch.zeros_like, torch.add
-- `...` holds its tensors until the function returns
local function f(...)
  local y = op((...))
  y = op(y)
  return y
end
local function g(...) return f(...) end
local r = f(torch.zeros({ 1 }), torch.zeros({ 1 }))
phase "once more"
r = g(torch.zeros({ 1 }), torch.zeros({ 1 }))
op(r)
