--[==[python
def f(x):
    a = op(x)
    b = op(x)
    return a, b
a = f(new())[0]
mark("only the first")
op(a)
]==]
local op, op2 = torch.zeros_like, torch.add
local function f(x)
  local a = op(x)
  local b = op(x)
  return a, b
end
local a = f(torch.zeros({ 1 }))
phase "only the first"
op(a)
