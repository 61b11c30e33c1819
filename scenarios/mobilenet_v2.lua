-- mobilenet_v2.lua: training steps of MobileNetV2 as torchvision runs it.
local vision_training = use "vision_training"

vision_training.run {
  { "model", "mobilenet_v2", "network", one_of = { "mobilenet_v2" } },
  { "batch", 16, "images a step (a micro-batch)", min = 1 },
}
