-- config_adapter.lua: PEFT's adapter_config.json (0.21): LoRA on the model that from_config.lua builds.
local config_keys = use "config_keys"
local config_adapter = {}
local null = config_keys.null

local function is_empty(value)
  if type(value) ~= "table" then
    return value == false or value == ""
  end
  for _ in pairs(value) do
    return false
  end
  return true
end

-- Keys that change the step when they are given: what is not modelled, and what to do.
local refused = {
  modules_to_save = "layers trained whole beside the adapters are not modelled: take the key out",
  use_qalora = "QALoRA is not modelled: set it to false",
  use_bdlora = "is not modelled: set it to false",
  lora_bias = "biases of adapters are not modelled: set it to false",
  rank_pattern = "ranks by layer are not modelled: take the key out, and every adapter has rank r",
  layers_to_transform = "adapters on some layers alone are not modelled: take the key out",
  exclude_modules = "is not modelled: name the layers in target_modules",
  target_parameters = "adapters on parameters are not modelled: take the key out",
  trainable_token_indices = "trained tokens are not modelled: take the key out",
  layer_replication = "repeated layers are not modelled: take the key out",
  megatron_config = "Megatron's layers are not modelled: take the key out",
  eva_config = "is not modelled: take the key out",
  corda_config = "is not modelled: take the key out",
  lora_ga_config = "is not modelled: take the key out",
  velora_config = "is not modelled: take the key out",
  monteclora_config = "is not modelled: take the key out",
  arrow_config = "is not modelled: take the key out",
  kasa_config = "is not modelled: take the key out",
  alora_invocation_tokens = "is not modelled: take the key out",
}

local known = {
  peft_type = true, r = true, use_dora = true, lora_dropout = true, target_modules = true, bias = true, init_lora_weights = true,
  -- of no matter to memory
  task_type = true, auto_mapping = true, peft_version = true, base_model_name_or_path = true, revision = true,
  inference_mode = true, lora_alpha = true, fan_in_fan_out = true, use_rslora = true, alpha_pattern = true, layers_pattern = true,
  megatron_core = true, loftq_config = true, qalora_group_size = true, runtime_config = true, ensure_weight_tying = true,
}

local function check_value(adapter, path, fail, key, is_good, expected)
  local value = adapter[key]
  if value ~= nil and value ~= null and not is_good(value) then
    fail(path, "%s: found %s, expected %s", key, tostring(value), expected)
  end
end

local function check(adapter, path, fail)
  if adapter.peft_type ~= "LORA" then
    fail(path, "peft_type '%s' is not modelled, only LORA", tostring(adapter.peft_type))
  end
  check_value(adapter, path, fail, "r", function(value)
    return math.type(value) == "integer" and value > 0
  end, "an integer of at least 1")
  check_value(adapter, path, fail, "lora_dropout", function(value)
    return type(value) == "number" and value >= 0 and value < 1
  end, "a number from 0 to 1")
  check_value(adapter, path, fail, "use_dora", function(value)
    return type(value) == "boolean"
  end, "true or false")
  check_value(adapter, path, fail, "bias", function(value)
    return value == "none"
  end, "'none': trained biases are not modelled")
  check_value(adapter, path, fail, "init_lora_weights", function(value)
    return type(value) == "boolean" or value == "gaussian"
  end, "true, false or gaussian: other starts are not modelled")
end

-- The names of the layers: as given, PEFT's choice for the family, or every linear layer's but the head's.
local function targets_of(adapter, path, fail, family)
  local targets = adapter.target_modules
  if targets == nil or targets == null then
    return family.lora_targets or fail(path, "target_modules: PEFT has no choice for this model: name the layers")
  end
  if type(targets) == "string" and targets:lower() == "all-linear" then
    return family.linear_layers
  end
  if type(targets) ~= "table" then
    fail(path, "target_modules: '%s': patterns are not modelled: give a list of names", tostring(targets))
  end
  for _, name in ipairs(targets) do
    if type(name) ~= "string" then
      fail(path, "target_modules: expected a list of names of layers")
    end
  end
  return targets
end

-- -> rows for parameters{}, the names of the layers
function config_adapter.read(adapter, path, fail, family)
  check(adapter, path, fail)
  local unknown = {}
  for key, value in pairs(adapter) do
    if refused[key] then
      if value ~= null and not is_empty(value) then
        fail(path, "%s: %s", tostring(key), refused[key])
      end
    elseif not known[key] then
      unknown[#unknown + 1] = tostring(key)
    end
  end
  local r, dropout = adapter.r, adapter.lora_dropout
  return {
    { "lora", math.type(r) == "integer" and r or 8, "rank of the LoRA adapters, which alone are trained; 0 = none", min = 0 },
    { "lora_targets", "adapter", "layers with adapters: the adapter's, or as other scenarios have it",
      one_of = { "adapter", "qv", "qkvo", "all" } },
    { "dora", adapter.use_dora == true, "adapters with a magnitude (DoRA)" },
    { "lora_dropout", type(dropout) == "number" and dropout + 0.0 or 0.0, "dropout before the adapters", min = 0, max = 1 },
  }, targets_of(adapter, path, fail, family), unknown
end

return config_adapter
