-- gpt2.lua: training steps of GPT-2 as Transformers runs it; the defaults are the 124 M model.
local gpt2 = use "modeling_gpt2"
local language_model = use "language_model"
local training = use "training"

local p = parameters(language_model.parameters {
  { "hidden", 768, "width of the residual stream", min = 1 },
  { "intermediate", 0, "width of the MLP; 0 = 4 * hidden", min = 0 },
  { "layers", 12, "blocks", min = 1, max = 10000 },
  { "heads", 12, "attention heads", min = 1 },
  { "vocab", 50257, "size of the vocabulary", min = 1 },
  { "positions", 1024, "learned positions", min = 1 },
  { "tie_embeddings", true, "the head shares the embedding's weight" },
  { "dropout", 0.1, "of embeddings, attention and residuals", min = 0, max = 0.99 },
  { "act", "gelu_new", "activation", one_of = { "gelu_new", "gelu", "relu" } },
  { "batch", 1, "sequences a step (a micro-batch)", min = 1 },
  { "seq", 1024, "tokens a sequence", min = 1 },
  { "attention", "sdpa", "attention implementation", one_of = { "eager", "sdpa" } },
})
if p.intermediate == 0 then
  p.intermediate = 4 * p.hidden
end
assert(p.hidden % p.heads == 0, "hidden must be a multiple of heads")
assert(p.seq <= p.positions, "seq must not exceed positions")

language_model.run(p, function()
  return training.build(gpt2.GPT2LMHeadModel, p, p.dtype)
end)
