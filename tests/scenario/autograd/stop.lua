-- torch.stop leaves the function from wherever it is called; what its names held is let go.
local function deep(x)
  local y = torch.zeros_like(x)
  torch.stop()
  return y
end
local stopped = torch.catch_stop(function()
  local x = torch.zeros({ 1 })
  deep(x)
  torch.zeros({ 1 })
end)
phase "after"
note(stopped and "stopped" or "ran through")
torch.zeros({ 1 })
note(torch.catch_stop(function() end) and "stopped" or "ran through")
