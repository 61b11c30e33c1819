-- resnet50.lua: training steps of ResNet-50 as torchvision runs it. Other networks: --set model=resnet18 and the like.
local optim = use "optim"
local vision_training = use "vision_training"

vision_training.run {
  { "model", "resnet50", "network", one_of = { "resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d", "wide_resnet50_2" } },
  { "optimizer", "momentum", "optimizer", one_of = optim.names },
}
