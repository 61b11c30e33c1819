-- llama7b_inference.lua: LLaMA-7B answers a prompt with a key/value cache that grows by a token a step.
local decoders = use "decoders"

decoders.run(parameters(decoders.rows {
  mode = "generate",
  hidden = 4096,
  intermediate = 11008,
  layers = 32,
  heads = 32,
  batch = 1,
  prompt = 512,
  new_tokens = 32,
}))
