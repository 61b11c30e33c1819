--[==[python
h = new()
for i in range(2):
    s = "end return \" until"
    t = op(h)
mark("t")
op(h)
]==]
local op, op2 = torch.zeros_like, torch.add
-- words that are none: "end", 'until', [[return]], -- break and escapes
local h = torch.zeros({ 1 })
for i = 1, 2 do
  local s = "end return \" until \z
             goto x" .. 'if \' do' .. [[ for ]] .. [=[ ]] while ]=] -- end
  --[[ end
  ]]
  local t = op(h)
end
phase "t"
op(h)
