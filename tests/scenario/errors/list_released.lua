local function f()
  local l = torch.list()
  return setmetatable({ l }, {})
end
local h = f()
torch.zeros({ 1 })
local n = #h[1]
