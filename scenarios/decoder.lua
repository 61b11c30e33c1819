-- decoder.lua: decoder-only models of LLaMA's kind by name: llama, mistral, qwen2, qwen3, phi3, gemma2, gemma3, and
-- mixtures of experts: mixtral, qwen3_moe, deepseek_v3. Training steps, evaluation between them, or generation with a
-- cache. The defaults are a small model; set the sizes of yours.
local decoders = use "decoders"

decoders.run(parameters(decoders.rows {}))
