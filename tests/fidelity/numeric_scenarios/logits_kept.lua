-- logits_kept.lua: an evaluation keeps every batch's logits in float32 and puts them together at the end.
local p = parameters {
  { "batches", 500, "batches", min = 1 },
  { "batch", 1, "samples a batch", min = 1 },
  { "tokens", 1024, "tokens a sample", min = 1 },
  { "vocab", 32000, "vocabulary", min = 1 },
}
begin_step(1)
local function evaluate()
  local parts = torch.list()
  for _ = 1, p.batches do
    parts:append(torch.empty({ p.batch, p.tokens, p.vocab }, torch.float32))
  end
  return torch.cat(parts)
end
local logits = evaluate()
logits:as("activation", "logits")
