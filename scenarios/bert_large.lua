-- bert_large.lua: masked language modelling with BERT or RoBERTa as Transformers runs them; the defaults are BERT large.
local bert = use "modeling_bert"
local training = use "training"

local p = parameters(training.parameters {
  { "model", "bert", "family", one_of = { "bert", "roberta" } },
  { "hidden", 1024, "width of the residual stream", min = 1 },
  { "intermediate", 4096, "width of the MLP", min = 1 },
  { "layers", 24, "encoder layers", min = 1, max = 10000 },
  { "heads", 16, "attention heads", min = 1 },
  { "vocab", 30522, "size of the vocabulary", min = 1 },
  { "positions", 512, "learned positions (roberta: 2 more than the longest sequence)", min = 1 },
  { "token_types", 2, "kinds of segments", min = 1 },
  { "dropout", 0.1, "of embeddings and residuals", min = 0, max = 0.99 },
  { "attention_dropout", 0.1, "of attention", min = 0, max = 0.99 },
  { "act", "gelu", "activation", one_of = { "gelu", "gelu_new", "relu" } },
  { "batch", 8, "sequences a step (a micro-batch)", min = 1 },
  { "seq", 512, "tokens a sequence", min = 1 },
  { "attention", "sdpa", "attention implementation", one_of = { "eager", "sdpa" } },
})
p.roberta = p.model == "roberta"
assert(p.hidden % p.heads == 0, "hidden must be a multiple of heads")
assert(p.seq <= p.positions, "seq must not exceed positions")

local model = training.build(bert.ForMaskedLM, p, p.dtype)
local input_ids = torch.zeros({ p.batch, p.seq }, torch.int64):as("input", "input_ids")

training.run(p, model, function()
  return model(input_ids, input_ids)
end)
