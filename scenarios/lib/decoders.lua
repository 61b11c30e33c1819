-- decoders.lua: what a scenario of a decoder-only model of LLaMA's kind takes and does: training steps, evaluation between
-- them, or generation with a cache.
local families = use "families"
local language_model = use "language_model"
local routing = use "routing"
local rows = use "rows"
local decoders = {}

local own_rows = {
  {
    "model",
    "llama",
    "family",
    one_of = {
      "llama", "mistral", "qwen2", "qwen3", "phi3", "gemma2", "gemma3", "mixtral", "qwen3_moe", "deepseek_v3",
    },
  },
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
  { "dtype", "bf16", "type of the weights", one_of = { "fp32", "bf16", "fp16" } },
  { "float8", false, "linear layers but the head multiply in float8 (torchao, tensorwise)" },
  { "attention", "sdpa", "attention implementation", one_of = { "eager", "sdpa" } },
}

-- Rows for parameters{}, with a model's own defaults in place of the small model's.
function decoders.rows(defaults)
  local own = rows.append({ table.unpack(own_rows) }, routing.rows)
  local all = language_model.parameters(own, true)
  for _, row in ipairs(all) do
    local wanted = defaults[row[1]]
    if wanted ~= nil then
      row[2], defaults[row[1]] = wanted, nil
    end
  end
  for unknown in pairs(defaults) do
    error("decoders.rows: there is no parameter '" .. tostring(unknown) .. "'")
  end
  return all
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

function decoders.run(p)
  language_model.run(p, build)
end

return decoders
