-- limit: 5000000
local t = {}
for i = 1, 100000 do
  t["k" .. i] = i
end
local n = 0
for _ in pairs(t) do
  n = n + 1
end
print(n)
