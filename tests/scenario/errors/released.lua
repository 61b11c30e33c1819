local holder = setmetatable({}, {})
holder.x = torch.zeros({ 2 })
local y = torch.zeros({ 2 })
y = torch.relu(holder.x)
