-- linear_once.lua: the first matrix product of a process; its operands and its result are dropped.
begin_step(1)
local function run()
  local x, weight = torch.empty({ 8, 64 }), torch.empty({ 64, 64 })
  local y = torch.linear(x, weight)
  return y:size(0)
end
run()
