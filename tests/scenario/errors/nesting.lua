local t = {}
local inner = t
for i = 1, 100000 do
  inner[1] = {}
  inner = inner[1]
end
inner[1] = torch.zeros({ 1 })
local x = torch.zeros({ 1 })
local y = torch.relu(x)
