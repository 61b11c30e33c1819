-- vit_b16.lua: training steps of the Vision Transformer ViT-B/16 as torchvision runs it. Others: --set model=vit_l_16.
local vision_training = use "vision_training"

vision_training.run {
  { "model", "vit_b_16", "network", one_of = { "vit_b_16", "vit_b_32", "vit_l_16", "vit_l_32", "vit_h_14" } },
}
