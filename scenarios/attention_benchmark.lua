-- attention_benchmark.lua: one attention head whose scores stand in memory, timed as in a course's exercise: step 1 warms up
-- (forward and backward), step 2 is a forward whose result is dropped, step 3 a forward that is kept to the end, step 4 a
-- forward and backward beside it.
local p = parameters {
  { "batch", 8, "sequences", min = 1 },
  { "seq", 1024, "tokens a sequence", min = 1 },
  { "width", 16, "width of the head", min = 1 },
  { "dtype", "fp32", "type of everything", one_of = { "fp32", "bf16", "fp16" } },
}

local function softmax(x)
  local rescaled_input = x - torch.max(x, { dim = -1, keepdim = true })
  local exponentiated_rescaled_input = torch.exp(rescaled_input)
  return exponentiated_rescaled_input / torch.sum(exponentiated_rescaled_input, -1, true)
end

local function attention(Q, K, V)
  local attention_scores = torch.einsum("...qd,...kd->...qk", { Q, K }) / K:size(-1) ^ 0.5
  local attention_weights = softmax(attention_scores)
  local X = torch.einsum("...qk,...kv->...qv", { attention_weights, V })
  return X
end

local function randn()
  local t = torch.empty({ p.batch, p.seq, p.width }, p.dtype):as("input", "QKV")
  t.requires_grad = true
  return t
end
local Q, K, V = randn(), randn(), randn()
local out, loss

local function clear()
  Q.grad, K.grad, V.grad = nil, nil, nil
end
local function forward()
  return attention(Q, K, V):sum()
end
local function step_bwd()
  local own_out = attention(Q, K, V)
  local own_loss = own_out:sum()
  own_loss:backward()
  clear()
end

begin_step(1)
for _ = 1, 2 do
  out = attention(Q, K, V)
  loss = out:sum()
  loss:backward()
  clear()
end
begin_step(2)
for _ = 1, 2 do
  forward()
end
begin_step(3)
out = attention(Q, K, V)
loss = out:sum()
begin_step(4)
for _ = 1, 2 do
  step_bwd()
end
