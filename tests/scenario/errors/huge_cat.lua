local x = torch.zeros({ 1 }):expand(1 << 59)
local list = {}
for i = 1, 64 do
  list[i] = x
end
local y = torch.cat(list, 0)
