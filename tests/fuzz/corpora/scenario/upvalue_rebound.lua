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
