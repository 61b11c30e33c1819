--[==[python
def f(x):
    x = op(x)
    if True:
        x = op(x)
        y = op(x)
    x = op(y)
    return x
h = f(new())
op(h)
]==]
local op, op2 = torch.zeros_like, torch.add
local function f(x)
  local x = op(x)
  local y
  if true then
    local x = op(x)
    y = op(x)
  end
  local x = op(y)
  return x
end
local h = f(torch.zeros({ 1 }))
op(h)
