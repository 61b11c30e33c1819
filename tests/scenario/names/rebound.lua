--[==[python
x = new()
y = x
x = None
op(new())
y = 5
op(new())
y = new()
y = "text"
op(new())
y = [new()]
y = new()
op(y)
]==]
local op, op2 = torch.zeros_like, torch.add
-- to nil, a number, a text, a table; one tensor under two names
local x = torch.zeros({ 1 })
local y = x
x = nil
op(torch.zeros({ 1 }))
y = 5
op(torch.zeros({ 1 }))
y = torch.zeros({ 1 })
y = "text"
op(torch.zeros({ 1 }))
y = { torch.zeros({ 1 }) }
y = torch.zeros({ 1 })
op(y)
