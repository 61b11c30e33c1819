--[==[python
def fill(l):
    l.append(op(l[0]))
class Fill(Module):
    def forward(self, l):
        l.append(op(l[0]))
l = [new()]
fill(l)
mark("two")
Fill()(l)
mark("three")
op(l[2])
l = None
op(new())
]==]
local op, op2 = torch.zeros_like, torch.add
-- the last thing that a function does is put a tensor where only its caller can see it
local nn = use "nn"
local Fill = nn.class()
function Fill:init() end
function Fill:forward(l) l[#l + 1] = op(l[1]) end
local function fill(l) l[#l + 1] = op(l[1]) end
local l = { torch.zeros({ 1 }) }
fill(l)
phase "two"
Fill()(l)
phase "three"
op(l[3])
l = nil
op(torch.zeros({ 1 }))
