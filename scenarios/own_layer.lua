-- own_layer.lua: a layer of your own. Write its forward as you would in Python: every tensor that a name holds, or that
-- autograd keeps for the backward, is memory; the backward is derived. Copy the class and change it.
local nn = use "nn"
local training = use "training"

local p = parameters(training.parameters {
  { "width", 1024, "features of a token", min = 1 },
  { "layers", 8, "of the layer below, one after the other", min = 1, max = 10000 },
  { "batch", 16, "sequences a step", min = 1 },
  { "seq", 512, "tokens a sequence", min = 1 },
})

-- y = x + down(silu(gate(norm(x))) * up(norm(x)))
local GatedMLP = nn.class()
function GatedMLP:init(width)
  self.norm = nn.LayerNorm(width)
  self.gate = nn.Linear(width, 4 * width, false)
  self.up = nn.Linear(width, 4 * width, false)
  self.down = nn.Linear(4 * width, width, false)
end
function GatedMLP:forward(x)
  local h = self.norm(x)
  local gated = torch.silu(self.gate(h)) * self.up(h)
  return x + self.down(gated)
end

local Model = nn.class()
function Model:init()
  local layers = {}
  for i = 1, p.layers do
    layers[i] = GatedMLP(p.width)
  end
  self.layers = nn.Sequential(table.unpack(layers))
end
function Model:forward(x)
  return self.layers(x):mean()
end

local model = training.build(Model, p, p.dtype)
local x = torch.zeros({ p.batch, p.seq, p.width }, p.dtype):as("input", "x")

training.run(p, model, function()
  return model(x)
end)
