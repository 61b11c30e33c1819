-- litgpt.lua: fine-tuning and generation as the scripts of Lightning's LitGPT run them: finetune/lora.py, finetune/full.py,
-- generate/base.py, on one GPU, on the days that lib/lit_gpt.lua knows.
local nn = use "nn"
local optim = use "optim"
local cudnn = use "cudnn"
local litgpt = use "lit_gpt"
local lit_gpt_training = use "lit_gpt_training"

local rows = {
  { "model", "Llama-2-7b", "model by LitGPT's name", one_of = litgpt.names },
  { "mode", "lora", "what runs", one_of = { "lora", "full", "generate" } },
  { "version", "2023-10", "LitGPT of that month", one_of = { "2023-09", "2023-10", "2024-04", "2024-09" } },
  { "batch", 4, "micro_batch_size", min = 1 },
  { "seq", 1304, "tokens of the longest sample, which comes first; generate: of the prompt", min = 1 },
  { "accumulate", 2, "micro-batches a step: two show what a longer accumulation holds", min = 1 },
  { "steps", 2, "optimizer steps", min = 1 },
  { "r", 8, "rank", min = 1 },
  { "alpha", 16, "scale of the adapters" },
  { "dropout", 0.05, "before the adapters", min = 0, max = 1 },
  { "targets", "qv", "layers with adapters: queries and values, or all", one_of = { "qv", "all" } },
  { "dtype", "bf16", "precision: bf16-true, 16-true, 32-true", one_of = { "bf16", "fp16", "fp32" } },
  { "new_tokens", 50, "generate: tokens after the prompt", min = 1 },
  { "top_k", 200, "generate: tokens to choose from", min = 1 },
  cudnn.workspace,
}
for _, key in ipairs(litgpt.sizes) do
  rows[#rows + 1] = { key, 0, "of the model; 0 = its own", min = 0 }
end
local p = parameters(rows)
cudnn.configure(p)

local function build()
  local all = p.targets == "all"
  local lora = p.mode == "lora" and { r = p.r, alpha = p.alpha, dropout = p.dropout, query = true, key = all, value = true,
    projection = all, mlp = all, head = all } or nil
  local default = torch.set_default_dtype(p.dtype)
  local model = litgpt.GPT(litgpt.config(p.model, p.version, lora, p))
  torch.set_default_dtype(default)
  nn.name(model)
  return model
end

local function train(model)
  if p.mode == "lora" then
    lit_gpt_training.freeze(model)
  end
  litgpt.convert(model, p.dtype)
  model:set_max_seq_length(p.seq)
  local trainable = torch.list()
  for _, parameter in ipairs(nn.parameters(model)) do
    if parameter.requires_grad then
      trainable:append(parameter)
    end
  end
  local optimizer = optim.make("adamw", trainable, "foreach")

  local function micro_batch()
    local input_ids = torch.zeros({ p.batch, p.seq }, torch.int64):as("input", "input_ids")
    local targets = torch.zeros({ p.batch, p.seq }, torch.int64):as("input", "targets")
    phase "forward"
    local logits, loss
    if p.mode == "lora" then
      logits = lit_gpt_training.fabric(model, input_ids, nil, 128)
      logits[#logits] = logits[#logits]:slice(1, nil, -1)
      loss = lit_gpt_training.chunked_cross_entropy(p.version, logits, targets:slice(1, 1))
    else
      logits = lit_gpt_training.fabric(model, input_ids)
      loss = lit_gpt_training.chunked_cross_entropy(p.version, logits:slice(1, nil, -1), targets:slice(1, 1), 128)
    end
    phase "backward"
    local scaled = loss / p.accumulate
    scaled:backward()
  end

  for i = 1, p.steps do
    begin_step(i)
    for _ = 1, p.accumulate do
      micro_batch()
    end
    phase "optimizer"
    optimizer:step()
    phase "zero_grad"
    optimizer:zero_grad(true)
  end
end

local function generate(model)
  local T, returned = p.seq, p.seq + p.new_tokens
  nn.train(model, false)
  begin_step(1)
  local default = torch.set_default_dtype(p.dtype)
  model:set_max_seq_length(returned)
  model:set_kv_cache(1)
  torch.set_default_dtype(default)
  nn.name(model)
  local idx = torch.empty({ returned }, torch.int64)
  local input_pos = torch.arange(T)
  local x, logits, values, probs, idx_next
  for _ = 1, p.new_tokens do
    x = torch.index(idx, input_pos):view(1, -1)
    logits = lit_gpt_training.fabric(model, x, input_pos)
    logits = logits:select(0, 0):select(0, -1) / 0.8
    values = logits:topk(p.top_k)
    logits = torch.where(torch.lt(logits, values:slice(0, -1)), -1.0, logits)
    probs = torch.softmax(logits, -1)
    idx_next = (torch.zeros_like(probs) / probs):topk(1)
    input_pos = input_pos:slice(0, -1) + 1
    idx = idx:clone()
  end
end

local model = build()
if p.mode == "generate" then
  torch.no_grad(generate, model)
else
  train(model)
end
