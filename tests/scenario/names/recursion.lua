--[==[python
def f(x, n):
    y = op(x)
    if n > 0:
        z = f(y, n - 1)
        return op(z)
    return y
r = f(new(), 3)
op(r)
]==]
local op, op2 = torch.zeros_like, torch.add
local function f(x, n)
  local y = op(x)
  if n > 0 then
    local z = f(y, n - 1)
    return op(z)
  end
  return y
end
local r = f(torch.zeros({ 1 }), 3)
op(r)
