--[==[python
def make():
    return [new(), new(), new()]
for t in make():
    pass
mark("t is the last of three")
op(new())
op(t)
]==]
local op, op2 = torch.zeros_like, torch.add
-- a loop's variable outlives the loop, as in Python; what was iterated does not
local function make() return { torch.zeros({ 1 }), torch.zeros({ 1 }), torch.zeros({ 1 }) } end
local last
for _, t in ipairs(make()) do
  last = t
end
phase "t is the last of three"
op(torch.zeros({ 1 }))
op(last)
