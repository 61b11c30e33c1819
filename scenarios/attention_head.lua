-- attention_head.lua: one attention head whose scores stand in memory, its softmax written by hand: forward and backward.
local p = parameters {
  { "batch", 8, "sequences", min = 1 },
  { "seq", 4096, "tokens a sequence", min = 1 },
  { "width", 16, "width of the head", min = 1 },
  { "causal", false, "a mask over later positions" },
  { "dtype", "fp32", "type of everything", one_of = { "fp32", "bf16", "fp16" } },
  { "steps", 1, "passes forward and backward; gradients add up", min = 1, max = 10000 },
}

local function softmax(x)
  local max_x = torch.max(x, { dim = -1, keepdim = true })
  local numerator = torch.exp(x - max_x)
  local denominator = torch.sum(numerator, -1, true)
  return numerator / denominator
end

local function attention(Q, K, V, mask)
  local scores = torch.einsum("...ab,...cb->...ac", { Q, K })
  scores = scores / Q:size(-1) ^ 0.5
  if mask then
    scores = scores:masked_fill(mask:eq(0), -math.huge)
  end
  local weights = softmax(scores)
  return torch.einsum("...ab,...bc->...ac", { weights, V })
end

local function randn()
  local t = torch.empty({ p.batch, p.seq, p.width }, p.dtype):as("input", "QKV")
  t.requires_grad = true
  return t
end

local Q, K, V = randn(), randn(), randn()
local mask = p.causal and torch.tril(torch.ones({ p.seq, p.seq }, p.dtype)):to(torch.bool) or nil
local output, loss
for i = 1, p.steps do
  begin_step(i)
  phase "forward"
  output = attention(Q, K, V, mask)
  loss = output:sum()
  phase "backward"
  loss:backward()
end
