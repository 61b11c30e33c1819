--[==[python
def make():
    return [new(), new(), new()]
for t in make():
    pass
mark("t is the last of three")
op(new())
]==]
local op, op2 = torch.zeros_like, torch.add
-- no call in the loop's body sees t
local function make() return { torch.zeros({ 1 }), torch.zeros({ 1 }), torch.zeros({ 1 }) } end
for _, t in ipairs(make()) do
end
phase "t is the last of three"
op(torch.zeros({ 1 }))
