local op, op2 = torch.zeros_like, torch.add
-- torch.list holds its members itself
local list = torch.list()
for i = 1, 3 do
  list:append(op(torch.zeros({ 1 })))
end
local function total(l)
  local s = op2(l[1], l[2])
  l[1] = nil
  s = op2(s, l[3])
  return s
end
local r = total(list)
phase "list without its first"
op(torch.zeros({ 1 }))
local other = list
list = nil
op(torch.zeros({ 1 }))
other = nil
op(r)
