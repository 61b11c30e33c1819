-- llama7b_qlora.lua: LLaMA-7B fine-tuned with QLoRA: frozen weights of 4 bits (bitsandbytes' nf4, its scales quantized too),
-- adapters beside every linear layer, checkpoints, an optimizer whose states are paged; as Transformers and PEFT set it up.
local decoders = use "decoders"

decoders.run(parameters(decoders.rows {
  hidden = 4096,
  intermediate = 11008,
  layers = 32,
  heads = 32,
  batch = 1,
  seq = 1024,
  steps = 2,
  quantize = "nf4_double",
  prepare_kbit = true,
  lora = 16,
  lora_targets = "all",
  checkpoint = "nonreentrant",
  autocast = "bf16",
  optimizer = "paged_adamw32bit",
}))
