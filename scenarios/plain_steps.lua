-- plain_steps.lua: training steps as plain PyTorch code has them, small: scenarios/lib/steps_*.lua.
local steps, names = {}, {}
for _, library in ipairs { "steps_images", "steps_sequences", "steps_features" } do
  for name, make in pairs(use(library)) do
    steps[name] = make
    names[#names + 1] = name
  end
end

local p = parameters {
  { "step", "vae_conv", "which one", one_of = names },
  { "steps", 2, "how many", min = 1 },
}

torch.set_cudnn_workspace "none"
local run = steps[p.step]()
for i = 1, p.steps do
  begin_step(i)
  run()
  phase()
end
