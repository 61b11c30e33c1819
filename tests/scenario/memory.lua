-- for test_scenario_memory: parameters, lists, a library file
local p = parameters { { "count", 3, "how many" }, { "sizes", { 4, 2 }, "two" } }
local nn = use "nn"
local list, layer = torch.list(), nn.Linear(2, 2)
for i = 1, p.count do
  list:append(torch.zeros({ p.sizes[1], p.sizes[2] }))
  print("tensor", i, list[i].shape[1])
end
local all = torch.tensors_in(list, { torch.relu(list[1]) })
list[p.count + 1] = all[1]
