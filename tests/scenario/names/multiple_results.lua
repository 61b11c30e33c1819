--[==[python
def f(x):
    a = op(x)
    b = op(x)
    return a, b
p, q = f(new())
mark("both")
op(new())
p, _ = f(p)
mark("_ is a name")
op(p)
p, q = q, p
op(p)
q = None
op(p)
]==]
local op, op2 = torch.zeros_like, torch.add
local function f(x)
  local a = op(x)
  local b = op(x)
  return a, b
end
local p, q = f(torch.zeros({ 1 }))
phase "both"
op(torch.zeros({ 1 }))
local _
p, _ = f(p)
phase "_ is a name"
op(p)
p, q = q, p
op(p)
q = nil
op(p)
