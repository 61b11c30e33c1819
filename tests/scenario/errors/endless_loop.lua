-- limit: 1000000
local n = 0
while true do
  n = n + 1
end
