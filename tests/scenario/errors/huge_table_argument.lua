local t = {}
for i = 1, 20000 do
  t[i] = 1
end
local x = torch.zeros(t)
