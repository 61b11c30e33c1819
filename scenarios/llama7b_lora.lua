-- llama7b_lora.lua: LLaMA-7B fine-tuned with LoRA: the model is frozen, adapters beside its attention are trained.
local decoders = use "decoders"

decoders.run(parameters(decoders.rows {
  hidden = 4096,
  intermediate = 11008,
  layers = 32,
  heads = 32,
  batch = 4,
  seq = 1024,
  steps = 2,
  lora = 16,
  lora_targets = "qkvo",
  checkpoint = "nonreentrant",
}))
