--[==[python
h = new()
x = op(h) if True else None
y = False or op(h)
op(new())
z = op(op(h) if True else h, h)
op(z)
]==]
local op, op2 = torch.zeros_like, torch.add
local h = torch.zeros({ 1 })
local x = true and op(h) or nil
local y = false or op(h)
op(torch.zeros({ 1 }))
local z = op2(true and op(h) or h, h)
op(z)
