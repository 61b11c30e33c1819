--[==[python
def mlp(x):
    g = op(x, x)
    u = op(x, x)
    return op(op(g, u), x)
def layer(x):
    residual = x
    x = op(x)
    x = mlp(x)
    x = op(residual, x)
    return x
h = new()
h = layer(h)
h = layer(h)
op(h)
]==]
local op, op2 = torch.zeros_like, torch.add
local function mlp(x)
  local g = op2(x, x)
  local u = op2(x, x)
  return op2(op2(g, u), x) -- op2(g, u) is a temporary
end
local function layer(x)
  local residual = x
  x = op(x)
  x = mlp(x)
  x = op2(residual, x)
  return x
end
local h = torch.zeros({ 1 })
h = layer(h)
h = layer(h)
op(h)
