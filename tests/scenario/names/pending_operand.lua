--[==[python
def f(l):
    l[0] = op(l[1])
    return op(l[0])
l = [new(), new()]
r = op(l[0], f(l))
op(r)
]==]
local op, op2 = torch.zeros_like, torch.add
-- an operand that was read stays, though its table lets it go before the expression is done
local function f(l)
  l[1] = op(l[2])
  return op(l[1])
end
local l = { torch.zeros({ 1 }), torch.zeros({ 1 }) }
local r = op2(l[1], f(l))
op(r)
