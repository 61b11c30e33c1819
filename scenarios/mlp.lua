-- mlp.lua: a multilayer perceptron with cross entropy, in plain torch.
local nn = use "nn"
local F = use "functional"
local optim = use "optim"

local p = parameters {
  { "inputs", 784, "features of a sample", min = 1 },
  { "hidden", 1024, "width of the hidden layers", min = 1 },
  { "hidden_layers", 2, "hidden layers", min = 0, max = 1000 },
  { "classes", 10, "outputs", min = 1 },
  { "batch", 256, "samples a step", min = 1 },
  { "bias", true, "linear layers with bias" },
  { "act", "ReLU", "activation", one_of = { "ReLU", "SiLU", "GELU", "Tanh", "Sigmoid" } },
  { "dtype", "fp32", "type of weights and inputs", one_of = { "fp32", "bf16", "fp16" } },
  { "optimizer", "adamw", "optimizer", one_of = { "sgd", "momentum", "adam", "adamw" } },
  { "optimizer_impl", "foreach", "form of its step", one_of = { "forloop", "foreach", "fused" } },
  { "set_to_none", true, "zero_grad frees the gradients" },
  { "steps", 3, "training steps", min = 1, max = 10000 },
}

local layers = {}
local width = p.inputs
for _ = 1, p.hidden_layers do
  layers[#layers + 1] = nn.Linear(width, p.hidden, p.bias, p.dtype)
  layers[#layers + 1] = nn[p.act]()
  width = p.hidden
end
layers[#layers + 1] = nn.Linear(width, p.classes, p.bias, p.dtype)
local model = nn.Sequential(table.unpack(layers))
nn.name(model)

local optimizer = optim.make(p.optimizer, nn.parameters(model), p.optimizer_impl)
local x = torch.zeros({ p.batch, p.inputs }, p.dtype):as("input", "x")
local y = torch.zeros({ p.batch }, torch.int64):as("input", "y")

local function step()
  phase "forward"
  local loss = F.cross_entropy(model(x), y)
  phase "backward"
  loss:backward()
  phase "optimizer"
  optimizer:step()
  phase "zero_grad"
  optimizer:zero_grad(p.set_to_none)
end

for i = 1, p.steps do
  begin_step(i)
  step()
end
