-- mlp.lua: a multilayer perceptron with cross entropy, in plain torch.
local nn = use "nn"
local F = use "functional"
local optim = use "optim"
local amp = use "amp"

local p = parameters {
  { "widths", { 784, 1024, 1024, 10 }, "features of a sample, hidden widths, classes" },
  { "batch", 256, "samples a step", min = 1 },
  { "bias", true, "linear layers with bias" },
  { "act", "ReLU", "activation", one_of = { "ReLU", "SiLU", "GELU", "Tanh", "Sigmoid" } },
  { "dtype", "fp32", "type of weights and inputs", one_of = { "fp32", "bf16", "fp16" } },
  { "autocast", "none", "torch.autocast around the forward", one_of = { "none", "bf16", "fp16" } },
  { "optimizer", "adamw", "optimizer", one_of = optim.names },
  { "optimizer_impl", "foreach", "form of its step", one_of = { "forloop", "foreach", "fused" } },
  { "weight_decay", -1.0, "of the optimizer; negative = its default" },
  { "scaler", false, "torch.amp.GradScaler around the loss and the step" },
  { "accumulate", 1, "micro-batches a step", min = 1, max = 10000 },
  { "clip", 0.0, "clip_grad_norm_ at this norm; 0 = none", min = 0 },
  { "set_to_none", true, "zero_grad frees the gradients" },
  { "steps", 3, "training steps", min = 1, max = 10000 },
}

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

local optimizer = optim.make(p.optimizer, nn.parameters(model), p.optimizer_impl, p.weight_decay)
local scaler = p.scaler and amp.GradScaler() or nil
local x = torch.zeros({ p.batch, p.widths[1] }, p.dtype):as("input", "x")
local y = torch.zeros({ p.batch }, torch.int64):as("input", "y")

local function forward()
  return F.cross_entropy(model(x), y)
end

local function step()
  for _ = 1, p.accumulate do
    phase "forward"
    local loss = torch.autocast(p.autocast, forward)
    if p.accumulate > 1 then
      loss = loss / p.accumulate
    end
    phase "backward"
    if scaler then
      scaler:scale(loss):backward()
    else
      loss:backward()
    end
  end
  phase "optimizer"
  if p.clip > 0 then
    if scaler then
      scaler:unscale_(optimizer)
    end
    optim.clip_grad_norm_(optimizer.params, p.clip)
  end
  if scaler then
    scaler:step(optimizer)
    scaler:update()
  else
    optimizer:step()
  end
  phase "zero_grad"
  optimizer:zero_grad(p.set_to_none)
end

for i = 1, p.steps do
  begin_step(i)
  step()
end
