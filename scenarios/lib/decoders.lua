-- decoders.lua: what a scenario of a decoder-only model of LLaMA's kind takes and does: training steps, evaluation between
-- them, or generation with a cache.
local families = use "families"
local language_model = use "language_model"
local nn = use "nn"
local optim = use "optim"
local decoders = {}

local rows = {
  {
    "model",
    "llama",
    "family",
    one_of = {
      "llama", "mistral", "qwen2", "qwen3", "phi3", "gemma2", "gemma3", "mixtral", "qwen3_moe", "deepseek_v3",
    },
  },
  { "mode", "train", "what runs", one_of = { "train", "generate" } },
  { "hidden", 256, "width of the residual stream", min = 1 },
  { "intermediate", 688, "width of the MLP", min = 1 },
  { "layers", 2, "decoder layers", min = 1, max = 10000 },
  { "heads", 8, "attention heads", min = 1 },
  { "kv_heads", 0, "key/value heads; 0 = heads", min = 0 },
  { "head_dim", 0, "width of a head; 0 = hidden / heads", min = 0 },
  { "sliding_window", -1, "keys that a sliding layer sees; 0 = all, -1 = as the family has it", min = -1 },
  { "experts", 8, "mixtures: experts a layer", min = 1 },
  { "experts_per_token", 2, "mixtures: experts that a token goes through", min = 1 },
  { "expert_width", 192, "mixtures: width of an expert's MLP (mixtral: intermediate)", min = 1 },
  { "experts_used", -1, "mixtures: experts that get tokens; -1 = all", min = -1 },
  { "expert_groups", 2, "deepseek_v3: groups of experts", min = 1 },
  { "chosen_groups", 1, "deepseek_v3: groups that a token may choose from", min = 1 },
  { "shared_experts", 1, "deepseek_v3: experts that every token goes through", min = 1 },
  { "dense_layers", 1, "deepseek_v3: first layers, with an MLP", min = 0 },
  { "q_rank", 96, "deepseek_v3: width of compressed queries; 0 = not compressed", min = 0 },
  { "kv_rank", 64, "deepseek_v3: width of compressed keys and values", min = 1 },
  { "rope_dim", 16, "deepseek_v3: part of a head with rotary embeddings", min = 2 },
  { "nope_dim", 32, "deepseek_v3: part of a head without", min = 1 },
  { "value_dim", 32, "deepseek_v3: width of a head's values", min = 1 },
  { "vocab", 32000, "size of the vocabulary", min = 1 },
  { "tie_embeddings", false, "the head shares the embedding's weight" },
  { "batch", 2, "sequences a step (a micro-batch)", min = 1 },
  { "seq", 256, "tokens a sequence", min = 1 },
  { "lengths", {}, "train: tokens a sequence of each step in turn, in place of seq and steps" },
  { "eval_every", 0, "train: evaluate after every so many steps, but the last; 0 = never", min = 0 },
  { "eval_batch", 8, "train: sequences an evaluation", min = 1 },
  { "prompt", 128, "generate: tokens of the prompt", min = 1 },
  { "new_tokens", 64, "generate: tokens after it", min = 0, max = 1000000 },
  { "dtype", "bf16", "type of the weights", one_of = { "fp32", "bf16", "fp16" } },
  { "autocast", "none", "torch.autocast around the forward", one_of = { "none", "bf16", "fp16" } },
  { "float8", false, "linear layers but the head multiply in float8 (torchao, tensorwise)" },
  { "attention", "sdpa", "attention implementation", one_of = { "eager", "sdpa" } },
  { "optimizer", "adamw", "optimizer", one_of = { "sgd", "momentum", "adam", "adamw" } },
  { "optimizer_impl", "foreach", "form of its step; PyTorch chooses foreach on a GPU", one_of = { "forloop", "foreach", "fused" } },
  { "accumulate", 1, "micro-batches a step", min = 1, max = 10000 },
  { "clip", 0.0, "clip_grad_norm_ at this norm; 0 = none", min = 0 },
  { "set_to_none", true, "zero_grad frees the gradients" },
  { "steps", 3, "training steps", min = 1, max = 10000 },
}

-- Rows for parameters{}, with a model's own defaults in place of the small model's.
function decoders.rows(defaults)
  for _, row in ipairs(rows) do
    if defaults[row[1]] ~= nil then
      row[2] = defaults[row[1]]
    end
  end
  return rows
end

local function build(p)
  if p.kv_heads == 0 then
    p.kv_heads = p.heads
  end
  assert(p.head_dim > 0 or p.hidden % p.heads == 0, "hidden must be a multiple of heads (or set head_dim)")
  assert(p.heads % p.kv_heads == 0, "heads must be a multiple of kv_heads")

  local model = families.make(p, p.dtype)
  if p.float8 then
    assert(p.autocast == "none", "float8 is not modelled under autocast")
    use("float8").convert_to_float8_training(model, function(name)
      return name == "lm_head"
    end)
  end
  return model
end

local function train(p, model)
  local optimizer = optim.make(p.optimizer, nn.parameters(model), p.optimizer_impl)
  local fixed = #p.lengths == 0
  local steps = fixed and p.steps or #p.lengths
  local input_ids = fixed and language_model.ids(p.batch, p.seq) or nil
  local eval_ids = p.eval_every > 0 and language_model.ids(p.eval_batch, p.seq) or nil
  for i = 1, steps do
    begin_step(i)
    language_model.train_step(model, optimizer, p, input_ids or language_model.ids(p.batch, p.lengths[i]))
    if eval_ids and i % p.eval_every == 0 and i < steps then
      language_model.evaluate(model, p, eval_ids)
    end
  end
end

function decoders.run(p)
  local model = build(p)
  if p.mode == "train" then
    train(p, model)
  else
    begin_step(1)
    language_model.generate(model, p)
  end
end

return decoders
