local x = torch.zeros({ 2, 4, 8 })
x.requires_grad = true
local y = x:view(8, -1):transpose(0, 1):reshape(64):narrow(0, 1, 6):unsqueeze(0)
local z = torch.cat({ y, y }, 1):softmax(-1):select(0, 0):expand(3, 12) * 2.5
local w = torch.linear(z, torch.ones({ 5, 12 }), torch.empty({ 5 }))
local s = (torch.relu(w) + w:pow(2):mean(-1, true)):sum()
s:backward()
local g = x.grad
x.grad = nil
torch.no_grad(function() x:add_(g) end)
local m = torch.where(x:le(1), x, -1.0)
