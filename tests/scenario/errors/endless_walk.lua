-- limit: 3000000
-- a table with many entries is walked at every op
local t = {}
for i = 1, 100000 do
  t[i] = i
end
for i = 1, 1000 do
  torch.zeros({ 1 })
end
