-- unet.lua: training steps of a diffusion U-Net (diffusers' UNet2DModel) that predicts the noise in an image.
local cudnn = use "cudnn"
local nn = use "nn"
local training = use "training"
local unet = use "unet_2d"

local p = parameters(training.parameters {
  { "sample_size", 64, "height and width of an image", min = 1 },
  { "in_channels", 3, "channels of an image", min = 1 },
  { "out_channels", 3, "channels of the prediction", min = 1 },
  { "block_out_channels", { 64, 128, 256 }, "channels, level by level" },
  { "layers_per_block", 2, "resnet blocks a level", min = 1 },
  { "attention_levels", { 2 }, "levels (from 1) with attention" },
  { "attention_head_dim", 8, "width of an attention head", min = 1 },
  { "groups", 32, "groups of a group norm", min = 1 },
  { "dropout", 0.0, "in resnet blocks", min = 0, max = 0.99 },
  { "batch", 4, "images a step (a micro-batch)", min = 1 },
  { "channels_last", false, "model and images in channels_last" },
  cudnn.workspace,
})

cudnn.configure(p)
local model = training.build(function()
  return nn.cuda(function()
    return unet.UNet2DModel(p)
  end)
end, p, p.dtype)
if p.channels_last then
  nn.to_memory_format(model, "channels_last")
end
local x = torch.zeros({ p.batch, p.in_channels, p.sample_size, p.sample_size }, p.dtype)
local t = torch.zeros({ p.batch }, torch.int64):as("input", "t")
if p.channels_last then
  x = x:contiguous("channels_last")
end
x:as("input", "x")

training.run(p, model, function()
  return (torch.mse_loss(model(x, t).sample, x))
end)
