-- transformer_encoder.lua: torch.transformer.TransformerEncoder on random features; the loss is the sum of its output.
local training = use "training"
local transformer = use "transformer"

local p = parameters(training.parameters {
  { "hidden", 512, "width (d_model)", min = 1 },
  { "intermediate", 2048, "width of the feed-forward block", min = 1 },
  { "layers", 4, "encoder layers", min = 1, max = 10000 },
  { "heads", 8, "attention heads", min = 1 },
  { "dropout", 0.1, "of attention, feed-forward and residuals", min = 0, max = 0.99 },
  { "act", "relu", "activation", one_of = { "relu", "gelu" } },
  { "norm_first", false, "layer norms before the blocks, not after" },
  { "batch_first", true, "inputs are [batch, seq, hidden], else [seq, batch, hidden]" },
  { "batch", 8, "sequences a step (a micro-batch)", min = 1 },
  { "seq", 256, "positions a sequence", min = 1 },
})
assert(p.hidden % p.heads == 0, "hidden must be a multiple of heads")

local function encoder()
  return transformer.TransformerEncoder(function()
    return transformer.TransformerEncoderLayer(p.hidden, p.heads, p.intermediate, p.dropout, p.act, p.batch_first, p.norm_first)
  end, p.layers)
end
local model = training.build(encoder, p, p.dtype, true)
local shape = p.batch_first and { p.batch, p.seq, p.hidden } or { p.seq, p.batch, p.hidden }
local x = torch.zeros(shape, p.dtype):as("input", "x")

training.run(p, model, function()
  return model(x):sum()
end)
