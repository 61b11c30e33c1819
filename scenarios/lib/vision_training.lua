-- vision_training.lua: training steps of an image classifier on zeros, shared by the scenarios of the models.
local nn = use "nn"
local F = use "functional"
local cudnn = use "cudnn"
local rows = use "rows"
local training = use "training"
local vision = use "vision"
local vision_training = {}

-- defaults: rows that stand for those below
function vision_training.run(defaults)
  local all = rows.append({ table.unpack(defaults) }, {
    { "model", "resnet50", "network, by torchvision's name" },
    { "batch", 32, "images a step (a micro-batch)", min = 1 },
    { "image_size", 224, "height and width of an image", min = 1 },
    { "classes", 1000, "classes", min = 1 },
    { "channels_last", false, "model and images in channels_last" },
    cudnn.workspace,
    { "eval", false, "model.eval(): running statistics, no dropout, gradients all the same" },
  })
  local p = parameters(training.parameters(all))
  cudnn.configure(p)
  local make = vision.models[p.model]
  assert(make, "model: not known: " .. p.model)
  local model = nn.cuda(function()
    local default = torch.set_default_dtype(p.dtype)
    local built = make(p.classes, p)
    torch.set_default_dtype(default)
    return built
  end)
  if p.eval then
    nn.train(model, false)
  end
  if p.channels_last then
    nn.to_memory_format(model, "channels_last")
  end
  local x = torch.zeros({ p.batch, 3, p.image_size, p.image_size }, p.dtype)
  local y = torch.zeros({ p.batch }, torch.int64):as("input", "y")
  if p.channels_last then
    x = x:contiguous("channels_last")
  end
  x:as("input", "x")
  training.run(p, model, function()
    return (F.cross_entropy(model(x), y))
  end)
end

return vision_training
