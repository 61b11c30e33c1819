--[==[python
def f(x):
    return op(x)
h = new()
if f(h) is not None:
    op(h)
n = 1 if f(h) else 2
op(h)
]==]
local op, op2 = torch.zeros_like, torch.add
local function f(x)
  return op(x)
end
local h = torch.zeros({ 1 })
if f(h) ~= nil then
  op(h)
end
local n = f(h) and 1 or 2
op(h)
