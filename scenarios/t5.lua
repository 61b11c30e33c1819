-- t5.lua: training steps of T5 as Transformers runs it; the defaults are T5 small.
local t5 = use "modeling_t5"
local training = use "training"

local p = parameters(training.parameters {
  { "hidden", 512, "width of the residual stream (d_model)", min = 1 },
  { "intermediate", 2048, "width of the MLP (d_ff)", min = 1 },
  { "layers", 6, "encoder layers", min = 1, max = 10000 },
  { "decoder_layers", 0, "decoder layers; 0 = layers", min = 0, max = 10000 },
  { "heads", 8, "attention heads", min = 1 },
  { "head_dim", 64, "width of a head (d_kv)", min = 1 },
  { "vocab", 32128, "size of the vocabulary", min = 1 },
  { "buckets", 32, "relative_attention_num_buckets", min = 4 },
  { "max_distance", 128, "relative_attention_max_distance", min = 8 },
  { "dropout", 0.1, "of embeddings, attention and residuals", min = 0, max = 0.99 },
  { "act", "relu", "activation of the MLP", one_of = { "relu", "gelu", "gelu_new" } },
  { "gated", false, "a gate in the MLP (T5 1.1, with act=gelu_new)" },
  { "scale_outputs", true, "the decoder's output is scaled (T5 1.1: off)" },
  { "batch", 2, "sequences a step (a micro-batch)", min = 1 },
  { "seq", 512, "tokens of the source", min = 1 },
  { "target_seq", 0, "tokens of the target; 0 = seq", min = 0 },
  { "attention", "sdpa", "attention implementation", one_of = { "eager", "sdpa" } },
})
if p.decoder_layers == 0 then
  p.decoder_layers = p.layers
end
if p.target_seq == 0 then
  p.target_seq = p.seq
end

local model = training.build(t5.ForConditionalGeneration, p, p.dtype)
local input_ids = torch.zeros({ p.batch, p.seq }, torch.int64):as("input", "input_ids")
local labels = input_ids
if p.target_seq ~= p.seq then
  labels = torch.zeros({ p.batch, p.target_seq }, torch.int64):as("input", "labels")
end

training.run(p, model, function()
  return model(input_ids, labels)
end)
