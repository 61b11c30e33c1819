-- llama7b.lua: training steps of LLaMA-7B as Transformers runs it, or tokens that it generates. Any LLaMA-shaped model:
-- set the parameters.
local llama = use "llama"
local language_model = use "language_model"

local p = parameters(language_model.parameters({
  { "hidden", 4096, "width of the residual stream", min = 1 },
  { "intermediate", 11008, "width of the MLP", min = 1 },
  { "layers", 32, "decoder layers", min = 1, max = 10000 },
  { "heads", 32, "attention heads", min = 1 },
  { "kv_heads", 0, "key/value heads; 0 = heads", min = 0 },
  { "vocab", 32000, "size of the vocabulary", min = 1 },
  { "tie_embeddings", false, "the head shares the embedding's weight" },
  { "batch", 1, "sequences a step (a micro-batch)", min = 1 },
  { "seq", 2048, "tokens a sequence", min = 1 },
  { "dtype", "bf16", "type of the weights", one_of = { "fp32", "bf16", "fp16" } },
  { "attention", "sdpa", "attention implementation", one_of = { "eager", "sdpa" } },
  { "steps", 2, "training steps", min = 1, max = 10000 },
}, true))
if p.kv_heads == 0 then
  p.kv_heads = p.heads
end
assert(p.hidden % p.heads == 0, "hidden must be a multiple of heads")
assert(p.heads % p.kv_heads == 0, "heads must be a multiple of kv_heads")
compare_with_estimate "llama7b" -- printed at the defaults alone
if p.mode == "train" and p.optimizer_impl == "foreach" and (p.optimizer == "adam" or p.optimizer == "adamw") then
  note "optimizer_impl=foreach adds a copy of the trained parameters at the optimizer's peak; forloop and fused do not"
end

language_model.run(p, function()
  return llama.LlamaForCausalLM(p, p.dtype)
end)
