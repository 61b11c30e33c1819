-- limit: 5000000
local x, l = torch.zeros({4}), torch.list()
l:append(x)
for i = 1, 40 do l = torch.tensors_in(l, l) end
