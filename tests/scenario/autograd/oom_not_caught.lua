-- oom: 2
torch.catch_stop(function()
  local a = torch.zeros({ 1 })
  torch.zeros({ 1 })
end)
