-- mlp.lua: a multilayer perceptron with cross entropy, in plain torch.
local nn = use "nn"
local F = use "functional"
local training = use "training"

local p = parameters(training.parameters {
  { "widths", { 784, 1024, 1024, 10 }, "features of a sample, hidden widths, classes" },
  { "batch", 256, "samples a step", min = 1 },
  { "bias", true, "linear layers with bias" },
  { "act", "ReLU", "activation", one_of = { "ReLU", "SiLU", "GELU", "Tanh", "Sigmoid" } },
  { "dtype", "fp32", "type of weights and inputs", one_of = { "fp32", "bf16", "fp16" } },
})

assert(#p.widths >= 2, "widths: at least two are needed")
local layers = {}
for i = 1, #p.widths - 1 do
  layers[#layers + 1] = nn.Linear(p.widths[i], p.widths[i + 1], p.bias, p.dtype)
  if i < #p.widths - 1 then
    layers[#layers + 1] = nn[p.act]()
  end
end
local model = nn.Sequential(table.unpack(layers))
nn.name(model)

local optimizer, scaler = training.optimizer(p, model)
local x = torch.zeros({ p.batch, p.widths[1] }, p.dtype):as("input", "x")
local y = torch.zeros({ p.batch }, torch.int64):as("input", "y")

local function forward()
  return F.cross_entropy(model(x), y)
end

training.loop(p, optimizer, scaler, forward)
