-- families.lua: models of LLaMA's kind by name: what sets each apart from LLaMA. A family is a function that completes a
-- config (see llama.lua for its fields) from what the scenario gave.
local llama = use "llama"
local families = {}

-- `usual`: the window of the family's own config, 0 = none. Every layer slides (mistral), or those that `is_sliding` or
-- config.layer_types name: then there is a mask of either kind, used or not.
local function sliding(config, usual, is_sliding)
  if config.sliding_window < 0 then
    config.sliding_window = usual
  end
  if not is_sliding then
    config.mask_kinds = { config.sliding_window > 0 and "sliding" or "full" }
    return
  end
  config.mask_kinds = { "full", "sliding" }
  if config.layer_types then
    config.layer_kinds = config.layer_types
    return
  end
  config.layer_kinds = {}
  for i = 1, config.layers do
    config.layer_kinds[i] = is_sliding(i) and "sliding" or "full"
  end
end

function families.llama() end

function families.mistral(config)
  sliding(config, 4096)
end

-- kinds of layers as config.layer_types says, all full when it is nil; no mask for a kind that no layer has
local function given_kinds(config)
  config.layer_kinds = config.layer_types
  config.mask_kinds = { "full" }
  for i = 1, config.layer_kinds and config.layers or 0 do
    if config.layer_kinds[i] == "sliding" then
      config.mask_kinds = { "full", "sliding" }
    end
  end
end

function families.qwen2(config)
  config.qkv_bias = true
  given_kinds(config)
end

function families.qwen3(config)
  config.qk_norm = "projected"
  given_kinds(config)
end

function families.phi3(config)
  config.classes = use "phi3"
  sliding(config, 0)
end

-- attention and logits are capped by tanh; sdpa cannot do that
function families.gemma2(config)
  config.classes = use "gemma"
  config.activation = config.activation or "gelu"
  config.attention = "eager"
  config.attention_softcap, config.final_softcap = config.attention_softcap or 50.0, config.final_softcap or 30.0
  sliding(config, 4096, function(i)
    return i % 2 == 1
  end)
end

-- five layers slide for one that sees everything; each kind has rotary embeddings of its own, made in the order of a
-- Python set, which differs from run to run; here full comes first
function families.gemma3(config)
  config.classes = use("gemma").gemma3
  config.activation = config.activation or "gelu"
  config.qk_norm = "transposed"
  sliding(config, 4096, function(i)
    return i % 6 ~= 0
  end)
  local has = {}
  for _, kind in ipairs(config.layer_kinds) do
    has[kind] = true
  end
  config.rotary_kinds = has.full and has.sliding and { "full", "sliding" } or { has.full and "full" or "sliding" }
end

function families.mixtral(config)
  config.classes = use("experts").mixtral
  config.expert_width = config.intermediate
  sliding(config, 0)
end

function families.qwen3_moe(config)
  config.classes = use("experts").qwen3_moe
  config.qk_norm = "projected"
  sliding(config, 0)
end

function families.deepseek_v3(config)
  config.classes = use "deepseek"
  config.rotary_dim = config.rope_dim
end

function families.make(config, dtype)
  families[config.model](config)
  return llama.LlamaForCausalLM(config, dtype)
end

return families
