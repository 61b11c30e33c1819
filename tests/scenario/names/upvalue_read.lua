--[==[python
x = new()
def f(y):
    y = op(x, y)
    return op(x, y)
r = f(new())
mark("x is named outside")
op(r)
]==]
local op, op2 = torch.zeros_like, torch.add
local x = torch.zeros({ 1 })
local function f(y)
  y = op2(x, y)
  return op2(x, y)
end
local r = f(torch.zeros({ 1 }))
phase "x is named outside"
op(r)
