-- causal_lm.lua: causal language models with layer norms, by name: opt, gpt_neox, bloom, falcon. The defaults are a
-- small model; set the sizes of yours. (gpt2 and bert have scenarios of their own; LLaMA's kind is in decoder.lua.)
local language_model = use "language_model"
local training = use "training"

local p = parameters(language_model.parameters {
  { "model", "opt", "family", one_of = { "opt", "gpt_neox", "bloom", "falcon" } },
  { "hidden", 256, "width of the residual stream", min = 1 },
  { "intermediate", 0, "width of the MLP; 0 = 4 * hidden", min = 0 },
  { "layers", 2, "decoder layers", min = 1, max = 10000 },
  { "heads", 8, "attention heads", min = 1 },
  { "vocab", 32000, "size of the vocabulary", min = 1 },
  { "positions", 2048, "opt: learned positions", min = 1 },
  { "embedding", 0, "opt: width of the embedding (word_embed_proj_dim); 0 = hidden", min = 0 },
  { "rotary", 0.25, "gpt_neox: part of a head that turns", min = 0, max = 1 },
  { "parallel", true, "gpt_neox, falcon: attention and MLP beside each other" },
  { "tie_embeddings", true, "the head shares the embedding's weight (gpt_neox: off)" },
  { "dropout", -1.0, "of embeddings and residuals; -1 = the family's own", min = -1, max = 0.99 },
  { "attention_dropout", 0.0, "of attention", min = 0, max = 0.99 },
  { "act", "auto", "activation", one_of = { "auto", "gelu", "gelu_new", "relu" } },
  { "batch", 2, "sequences a step (a micro-batch)", min = 1 },
  { "seq", 256, "tokens a sequence", min = 1 },
  { "dtype", "bf16", "type of the weights", one_of = { "fp32", "bf16", "fp16" } },
  { "attention", "sdpa", "attention implementation (bloom: eager alone)", one_of = { "eager", "sdpa" } },
})
assert(p.hidden % p.heads == 0, "hidden must be a multiple of heads")
if p.intermediate == 0 then
  p.intermediate = 4 * p.hidden
end
if p.embedding == 0 then
  p.embedding = p.hidden
end
if p.dropout < 0 then
  p.dropout = p.model == "opt" and 0.1 or 0.0
end
if p.act == "auto" then
  p.act = p.model == "opt" and "relu" or "gelu"
end
if p.model == "gpt_neox" then
  p.rotary_dim = math.floor(p.hidden // p.heads * p.rotary)
end
local family = use("modeling_" .. p.model)

language_model.run(p, function()
  return training.build(family.ForCausalLM, p, p.dtype)
end)
