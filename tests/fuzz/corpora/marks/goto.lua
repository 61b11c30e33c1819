--[==[python
h = new()
for i in range(3):
    a = op(h)
    if i == 1:
        b = op(a)
        continue
    c = op(a)
mark("after")
op(h)
]==]
local op, op2 = torch.zeros_like, torch.add
local h = torch.zeros({ 1 })
for i = 0, 2 do
  local a = op(h)
  if i == 1 then
    local b = op(a)
    goto continue
  end
  local c = op(a)
  ::continue::
end
phase "after"
op(h)
