-- oom: 4
-- The traceback holds the names of the functions that were left until the handler has returned; temporaries go at once.
local op = torch.zeros_like
local function inner(x)
  local a = op(x)
  local b = torch.add(op(a), a) -- t3 is a temporary; t4 is asked for in vain
  return b
end
local function run()
  local h = torch.zeros({ 1 })
  return inner(h)
end
local ok = torch.catch_oom(run, function()
  phase "handler"
  op(torch.zeros({ 1 }))
end)
phase "after"
note(ok and "ran through" or "caught")
torch.zeros({ 1 })
