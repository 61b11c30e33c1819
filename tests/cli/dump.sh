cat >small.lua <<'LUA'
local nn = use "nn"
local F = use "functional"
local net = nn.Linear(8, 4, true, "fp32")
local x = torch.zeros({ 2, 8 }, "fp32"):as("input", "x")
local y = torch.zeros({ 2 }, torch.int64):as("input", "y")
begin_step(1)
phase "forward"
local loss = F.cross_entropy(net(x), y)
phase "backward"
loss:backward()
LUA
for stage in tape schedule requests timeline; do
    try dump $stage small.lua
done
unpack traces/pytorch-2.15/mlp_sgd.pickle
vramsim dump requests mlp_sgd.pickle | head -n 5
