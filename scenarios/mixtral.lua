-- mixtral.lua: training steps of two layers of Mixtral-8x7B; the whole has 32.
local decoders = use "decoders"

decoders.run(parameters(decoders.rows {
  model = "mixtral",
  hidden = 4096,
  intermediate = 14336,
  layers = 2,
  heads = 32,
  kv_heads = 8,
  batch = 1,
  seq = 2048,
  steps = 2,
}))
