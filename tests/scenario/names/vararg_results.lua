--[==[python
def make(*sizes):
    t = new()
    return t
a, b = make(1), make(2, 3)
mark("both are named")
op(a, b)
op(make(1, 2, 3), make(4))
mark("a sum")
c = make(1) + make(2, 3)
a = None
mark("a is gone")
op(b, c)
]==]
local op, op2 = torch.zeros_like, torch.add
-- what a function with ... returned waits in its register while another one runs
local function make(...) local t = torch.zeros({ 1 }); return t end
local a, b = make(1), make(2, 3)
phase "both are named"
op2(a, b)
op2(make(1, 2, 3), make(4))
phase "a sum"
local c = make(1) + make(2, 3)
a = nil
phase "a is gone"
op2(b, c)
