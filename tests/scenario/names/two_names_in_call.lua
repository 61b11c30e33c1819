--[==[python
def f(a, b):
    a = None
    op(new())
    b = None
    op(new())
x = new()
f(x, x)
mark("x")
f(op(x), op(x))
t = op(x)
f(t, x)
op(x)
]==]
local op, op2 = torch.zeros_like, torch.add
local function f(a, b)
  a = nil
  op(torch.zeros({ 1 }))
  b = nil
  op(torch.zeros({ 1 }))
end
local x = torch.zeros({ 1 })
f(x, x)
phase "x"
f(op(x), op(x))
local t = op(x)
f(t, x)
op(x)
