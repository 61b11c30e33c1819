--[==[python
seen = {new(): True}
op(new())
seen = None
op(new())
]==]
local op, op2 = torch.zeros_like, torch.add
local seen = { [torch.zeros({ 1 })] = true }
op(torch.zeros({ 1 }))
seen = nil
op(torch.zeros({ 1 }))
