--[==[python
def f(x, early):
    a = op(x)
    if early:
        b = op(a)
        return b
    c = op(a)
    return op(c)
h = f(new(), True)
mark("late")
h = f(h, False)
op(h)
]==]
local op, op2 = torch.zeros_like, torch.add
local function f(x, early)
  local a = op(x)
  if early then
    local b = op(a)
    return b
  end
  local c = op(a)
  return op(c)
end
local h = f(torch.zeros({ 1 }), true)
phase "late"
h = f(h, false)
op(h)
