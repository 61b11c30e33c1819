-- oom: 3
-- log: requests
phase "forward"
local x = torch.zeros({ 1024 })
local y = x * x
local z = y * y
print("never")
