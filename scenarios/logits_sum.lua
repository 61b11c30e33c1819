-- logits_sum.lua: forward and backward of a model of Transformers with the sum of its logits as loss, as the scripts behind
-- the tables of SDPA in its documentation run them: GPT-NeoX of June 2024 (the defaults are pythia-410m), ALBERT of July
-- 2024 (`model=albert` is albert-base-v2). The outputs of one pass live until the next one's are there.
local nn = use "nn"
local training = use "training"

local p = parameters {
  { "model", "gpt_neox", "family", one_of = { "gpt_neox", "albert" } },
  { "hidden", 0, "width; 0 = 1024, albert: 768", min = 0 },
  { "layers", 0, "layers; 0 = 24, albert: 12", min = 0, max = 10000 },
  { "heads", 0, "attention heads; 0 = 16, albert: 12", min = 0 },
  { "vocab", 0, "vocabulary; 0 = 50304, albert: 30000", min = 0 },
  { "dropout", 0.0, "of ALBERT", min = 0, max = 0.99 },
  { "head", "masked_lm", "of ALBERT", one_of = { "masked_lm", "classifier" } },
  { "batch", 1, "sequences", min = 1 },
  { "seq", 1024, "tokens a sequence", min = 1 },
  { "dtype", "fp16", "type of the weights", one_of = { "fp32", "bf16", "fp16" } },
  { "attention", "eager", "attention implementation", one_of = { "eager", "sdpa" } },
  { "attention_mask", false, "an attention mask of ones goes in" },
  { "steps", 3, "forwards and backwards", min = 1 },
}

local is_albert = p.model == "albert"
local function default(value, neox, albert)
  return value > 0 and value or is_albert and albert or neox
end
local config = setmetatable({
  hidden = default(p.hidden, 1024, 768),
  layers = default(p.layers, 24, 12),
  heads = default(p.heads, 16, 12),
  vocab = default(p.vocab, 50304, 30000),
  positions = is_albert and 512 or 2048,
  embedding = 128,
  token_types = 2,
  rotary = 0.25,
  act = "gelu_new",
  dropout = p.dropout,
  attention_dropout = p.dropout,
  attention = p.attention,
}, {})
config.intermediate = 4 * config.hidden

local class
if is_albert then
  local albert = use "modeling_albert"
  class = p.head == "masked_lm" and albert.ForMaskedLM or albert.ForSequenceClassification
else
  class = use("gpt_neox_2024").ForCausalLM
end
local model = training.build(class, config, p.dtype)
nn.name(model)
local input_ids = torch.zeros({ p.batch, p.seq }, torch.int64):as("input", "input_ids")
local attention_mask = p.attention_mask and torch.ones({ p.batch, p.seq }, torch.int64):as("input", "attention_mask") or nil

local outputs, loss
for i = 1, p.steps do
  begin_step(i)
  for _, parameter in ipairs(nn.parameters(model)) do
    parameter.grad = nil
  end
  phase "forward"
  outputs = model(input_ids, attention_mask)
  loss = outputs.logits:sum()
  phase "backward"
  loss:backward()
end
