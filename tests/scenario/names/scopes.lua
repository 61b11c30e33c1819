--[==[python
h = new()
for i in range(2):
    out = op(h)
    loss = op(out)
mark("out and loss are still named")
x = op(h)
x = op(x)
x = op(x)
op(h)
op(h)
]==]
local op, op2 = torch.zeros_like, torch.add
-- a block does not end a name; shadowed locals are one name; a discarded result dies at once
local h = torch.zeros({ 1 })
for i = 1, 2 do
  local out = op(h)
  local loss = op(out)
end
phase "out and loss are still named"
local x = op(h)
local x = op(x)
local x = op(x)
op(h)
op(h)
