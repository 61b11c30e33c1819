-- each walk comes to a table once
local t = {}
for i = 1, 1000 do
  t[i] = t
end
local u = { t = t }
t.u, t.x = u, torch.zeros({ 1 })
local y = torch.relu(t.u.t.x)
