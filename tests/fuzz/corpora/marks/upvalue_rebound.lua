--[==[python
def outer():
    x = new()
    def f():
        nonlocal x
        x = op(x)
        mark("the old x is gone")
        x = op(x)
    f()
    mark("x is what f made last")
    x = op(x)
    f()
    return x
r = outer()
op(r)
]==]
local op, op2 = torch.zeros_like, torch.add
local function outer()
  local x = torch.zeros({ 1 })
  local function f()
    x = op(x)
    phase "the old x is gone"
    x = op(x)
  end
  f()
  phase "x is what f made last"
  x = op(x)
  f()
  return x
end
local r = outer()
op(r)
