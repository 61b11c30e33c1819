-- from_config.lua: a config.json of Transformers 5.24 (or PEFT's adapter_config.json) as a scenario: training steps of the
-- model that it describes. Each key that matters is a parameter of its own name, beside those of the training loop.
local config_keys = use "config_keys"
local config_read = use "config_read"
local config_rope = use "config_rope"
local config_text = use "config_text"
local config_tasks = use "config_tasks"
local config_adapter = use "config_adapter"
local families = use "config_families"
local language_model = use "language_model"
local finetune = use "finetune"
local checkpoint = use "checkpoint"
local lora = use "lora"
local training = use "training"
local from_config = {}

from_config.null = config_keys.null
local fail = config_read.fail
local append = use("rows").append

-- quantization_config sets the default of the parameter for it.
local function set_quantization(rows, config)
  local quantization = config.quantization_config
  for _, row in ipairs(rows) do
    if row[1] == "quantize" then
      row[2] = config_keys.quantize_of(quantization) or row[2]
    end
  end
  return rows
end

-- The rows for parameters{}: the config's keys, what goes in, the loop's.
local function make_rows(config, path, family, adapter_rows)
  local values, unknown, defaults = config_read.keys(config, path, family)
  local rows = {}
  for i = 1, #family.keys, 2 do
    local key = family.keys[i]
    local row = config_keys.known[key]
    if values[key] == nil then
      values[key] = defaults[key]
    end
    rows[#rows + 1] = { key, values[key], row[1], min = row.min, max = row.max, one_of = row.one_of }
  end
  append(rows, config_rope.rows(config, family, path, fail))
  append(rows, family.parameters or {})
  append(rows, { { "architecture", config_read.architecture(config, family), "the model with its head, as Transformers names it" } })
  append(rows, config_tasks[family.task].parameters(values, family, config))
  append(rows, {
    { "dtype", config_read.dtype(config, path), "type of the weights", one_of = { "fp32", "bf16", "fp16" } },
    family.only_eager and { "attention", "eager", "attention implementation", one_of = { "eager" } }
      or { "attention", "sdpa", "attention implementation", one_of = { "eager", "sdpa" } },
  })
  append(rows, adapter_rows)
  if family.task == "language" then
    return set_quantization(language_model.parameters(rows, family.has_cache), config), unknown
  end
  append(rows, finetune.rows)
  return set_quantization(training.parameters(rows), config), unknown
end

local function check_architecture(p, path, family)
  for _, name in ipairs { family.architecture, table.unpack(family.other_architectures or {}) } do
    if p.architecture == name then
      return
    end
  end
  if p.architecture:sub(-5) == "Model" then
    note(string.format("%s has no loss: %s runs", p.architecture, family.architecture))
    p.architecture = family.architecture
    return
  end
  local known = table.concat({ family.architecture, table.unpack(family.other_architectures or {}) }, " or ")
  fail(path, "architectures: %s is not modelled; --set architecture=%s runs the config with that head", p.architecture, known)
end

-- Learned positions end.
local function check_length(p, path, family)
  if not family.learned_positions then
    return
  end
  local positions = p[family.learned_positions] - (family.unused_positions or 0)
  local longest = p.seq
  for _, length in ipairs(p.lengths or {}) do
    longest = math.max(longest, length)
  end
  if longest > positions then
    fail(path, "seq %d: the model has positions for %d tokens (%s)", longest, positions, family.learned_positions)
  end
end

local function name_unknown(unknown, path)
  if #unknown > 0 then
    note("keys of " .. path .. " that are not known, and have no effect here: " .. table.concat(unknown, ", "))
  end
end

-- Declares the parameters and returns their values. paths: what messages call the config and the adapter (nil: none).
function from_config.parameters(config, path, adapter, adapter_path)
  setmetatable(config, {}) -- it holds no tensors
  config = config_read.text_part(config)
  path = path or "config"
  local text_of = config.text_of
  config.text_of = nil
  local family = config_read.family(config, path)
  local adapter_rows, targets, unknown_too = {}, nil, {}
  if adapter then
    setmetatable(adapter, {})
    adapter_rows, targets, unknown_too = config_adapter.read(adapter, adapter_path or "adapter", fail, family)
    lora.targets.adapter = targets
  end
  local rows, unknown = make_rows(config, path, family, adapter_rows)
  local p = parameters(rows)
  check_architecture(p, path, family)
  check_length(p, path, family)
  name_unknown(unknown, path)
  name_unknown(unknown_too, adapter_path or "adapter")
  if text_of then
    note(text_of)
  end
  if config.auto_map and config.auto_map ~= config_keys.null then
    note "auto_map names code of the model's own: the model of Transformers stands in for it"
  end
  p.model_type, p.path = config.model_type, path
  config_rope.complete(config, p, family)
  return p
end

-- The model in the type of p.dtype, named.
function from_config.model(p)
  return families[p.model_type].build(p)
end

-- The scenario as text, for `vramsim scenario`: what the text would refuse to run is told here, with the config's name.
function from_config.write(config, path, base, base_path)
  local model, model_path = config_read.text_part(base or config), base and base_path or path
  model.text_of = nil
  if base then
    base = model
  else
    config = model
  end
  make_rows(model, model_path, config_read.family(model, model_path), {})
  return config_text.write(config, path, base, base_path)
end

-- What goes into a model that is no causal language model: x and labels.
function from_config.inputs(p)
  return config_tasks[families[p.model_type].task].inputs(p)
end

local function train(p)
  local model = finetune.build(p, function()
    return from_config.model(p)
  end)
  finetune.apply(p, model)
  local x, labels = from_config.inputs(p)
  training.run(p, model, function()
    if p.save_on_cpu then
      return checkpoint.save_on_cpu(model, x, labels)
    end
    return model(x, labels)
  end)
end

-- The whole scenario: run(config, path), or run(adapter, path, config, config_path).
function from_config.run(config, path, base, base_path)
  local p
  if base then
    p = from_config.parameters(base, base_path, config, path)
  else
    p = from_config.parameters(config, path)
  end
  if families[p.model_type].task == "language" then
    language_model.run(p, from_config.model)
  else
    train(p)
  end
end

return from_config
