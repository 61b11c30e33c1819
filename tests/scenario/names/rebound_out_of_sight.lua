--[==[python
h = new()
y = op(h)
for i in range(2):
    y = 5
mark("y is a number")
op(h)
]==]
local op, op2 = torch.zeros_like, torch.add
local h = torch.zeros({ 1 })
do
  local y = op(h)
end
for i = 1, 2 do
  local y = 5
end
phase "y is a number"
op(h)
