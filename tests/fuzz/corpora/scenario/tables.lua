local op, op2 = torch.zeros_like, torch.add
-- a plain table holds what it contains, nested and returned
local function make()
  local a = op(torch.zeros({ 1 }))
  return { hidden = a, list = { op(a), op(a) } }
end
local outputs = make()
phase "returned"
op(outputs.hidden)
outputs.hidden = nil
op(outputs.list[1])
table.remove(outputs.list, 1)
op(outputs.list[1])
outputs = nil
op(torch.zeros({ 1 }))
