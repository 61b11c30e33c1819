-- resnet50_features.lua: ResNet-50 whose classifier is the identity, trained with Adam on the sum of its features.
local nn = use "nn"
local vision = use "vision"
local training = use "training"

local p = parameters(training.parameters {
  { "batch", 16, "images", min = 1 },
  { "optimizer", "adam", "optimizer" },
})
torch.set_cudnn_workspace "none"
local Identity = nn.class()
function Identity:init() end
function Identity:forward(input)
  return input
end
local model = nn.cuda(function()
  local built = vision.models.resnet50(1000, p)
  built.fc = Identity()
  return built
end)
local x = torch.zeros({ p.batch, 3, 224, 224 }):as("activation", "images")
training.run(p, model, function()
  return model(x):sum()
end)
