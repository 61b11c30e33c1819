--[==[python
h = new()
all_hidden = []
for i in range(3):
    all_hidden.append(h)
    h = op(op(h))
mark("all three are held")
op(new())
all_hidden = None
op(h)
]==]
local op, op2 = torch.zeros_like, torch.add
-- output_hidden_states
local h = torch.zeros({ 1 })
local all_hidden = {}
for i = 1, 3 do
  all_hidden[#all_hidden + 1] = h
  h = op(op(h))
end
phase "all three are held"
op(torch.zeros({ 1 }))
all_hidden = nil
op(h)
