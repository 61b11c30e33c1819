-- limit: 300000
-- log: none
local x = torch.zeros({ 1 })
while true do
  x = x + 1
end
