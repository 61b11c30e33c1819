-- stable_diffusion.lua: fine-tuning steps of a text-conditioned diffusion U-Net (diffusers' UNet2DConditionModel, the sizes of
-- Stable Diffusion 1.5) on latents and text embeddings.
local cudnn = use "cudnn"
local nn = use "nn"
local training = use "training"
local unet = use "unet_2d_condition"

local p = parameters(training.parameters {
  { "sample_size", 64, "height and width of a latent image, an eighth of the image's", min = 1 },
  { "in_channels", 4, "channels of a latent image", min = 1 },
  { "out_channels", 4, "channels of the prediction", min = 1 },
  { "block_out_channels", { 320, 640, 1280, 1280 }, "channels, level by level" },
  { "layers_per_block", 2, "resnet blocks a level", min = 1, max = 1000 },
  { "attention_levels", { 1, 2, 3 }, "levels (from 1) with cross attention" },
  { "heads", { 8 }, "attention heads, of all levels or level by level (attention_head_dim in the configs)" },
  { "depth", { 1 }, "transformer blocks an attention, of all levels or level by level" },
  { "cross_attention_dim", 768, "width of the text embeddings", min = 1 },
  { "tokens", 77, "text tokens an image", min = 1 },
  { "use_linear_projection", false, "linear layers around the attention, in place of convolutions (Stable Diffusion 2)" },
  { "groups", 32, "groups of a group norm", min = 1 },
  { "dropout", 0.0, "in resnet blocks", min = 0, max = 0.99 },
  { "batch", 1, "images a step (a micro-batch)", min = 1 },
  { "channels_last", false, "model and images in channels_last" },
  cudnn.workspace,
})

cudnn.configure(p)
local model = training.build(function()
  return nn.cuda(function()
    return unet.UNet2DConditionModel(p)
  end)
end, p, p.dtype)
if p.channels_last then
  nn.to_memory_format(model, "channels_last")
end
local x = torch.zeros({ p.batch, p.in_channels, p.sample_size, p.sample_size }, p.dtype)
local t = torch.zeros({ p.batch }, torch.int64):as("input", "t")
local text = torch.zeros({ p.batch, p.tokens, p.cross_attention_dim }, p.dtype):as("input", "text")
if p.channels_last then
  x = x:contiguous("channels_last")
end
x:as("input", "x")

training.run(p, model, function()
  return (torch.mse_loss(model(x, t, text).sample, x))
end)
