-- from_config.lua: a config.json of Transformers 5.24 (or PEFT's adapter_config.json) as a scenario: training steps of the
-- model that it describes. Each key that matters is a parameter of its own name, beside those of the training loop.
local config_keys = use "config_keys"
local config_rope = use "config_rope"
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
local null = config_keys.null

local function fail(path, ...)
  error(path .. ": " .. string.format(...), 0)
end

local function names_of(table_)
  local names = {}
  for name in pairs(table_) do
    names[#names + 1] = name
  end
  return table.concat(names, " ")
end

local function find_family(config, path)
  local model_type = config.model_type
  if type(model_type) ~= "string" then
    fail(path, "no model_type: expected the config.json of a model of Transformers, with one of: %s", names_of(families))
  end
  if config.text_config then
    fail(path, "text_config: %s", config_keys.refused.text_config[2])
  end
  local family = families[model_type]
  if not family then
    fail(path, "model_type '%s' is not modelled; known: %s; to write a model: docs/scenario.md", model_type, names_of(families))
  end
  return family
end

-- "an integer", for messages
local function type_name(value)
  local type_ = type(value)
  if type_ == "number" then
    return math.type(value) == "integer" and "an integer" or "a number"
  end
  return ({ boolean = "true or false", string = "a text", table = "a list" })[type_]
end

local function shown(value)
  if type(value) == "string" then
    return "'" .. value .. "'"
  end
  return type(value) == "table" and value ~= null and "a list or an object" or tostring(value)
end

-- A value of the config as the type of the parameter's default, checked as a --set would be.
local function checked(path, key, value, default)
  local row = config_keys.known[key]
  if value == null then
    if row.none == nil then
      fail(path, "%s: found null, expected %s", key, type_name(default))
    end
    return row.none
  end
  if key == "layer_types" then
    value = config_rope.layer_types(value)
      or fail(path, "layer_types: expected a list of 'full_attention' and 'sliding_attention'")
  end
  local kind = math.type(default) or type(default)
  if kind == "float" and type(value) == "number" then
    value = value + 0.0
  elseif kind == "integer" and type(value) == "number" then
    value = math.tointeger(value) or value
  end
  if type(value) ~= type(default) or math.type(value) ~= math.type(default) then
    fail(path, "%s: found %s, expected %s", key, shown(value), type_name(default))
  end
  for _, member in ipairs(type(value) == "table" and value or {}) do
    if math.type(member) ~= "integer" then
      fail(path, "%s: found %s in the list, expected integers", key, shown(member))
    end
  end
  if row.min and value < row.min or row.max and value > row.max then
    fail(path, "%s: found %s, expected %s %s", key, tostring(value), value < row.min and "at least" or "at most",
      tostring(value < row.min and row.min or row.max))
  end
  if row.one_of then
    local known = false
    for _, name in ipairs(row.one_of) do
      known = known or name == value
    end
    if not known then
      fail(path, "%s: '%s' is not modelled; known: %s", key, value, table.concat(row.one_of, " "))
    end
  end
  return value
end

local dtypes = { float32 = "fp32", bfloat16 = "bf16", float16 = "fp16", float = "fp32", half = "fp16" }

local function dtype_of(config, path)
  local name = config.dtype or config.torch_dtype
  if name == nil or name == null then
    return "fp32"
  end
  local word = type(name) == "string" and name or "?"
  if word:sub(1, 6) == "torch." then
    word = word:sub(7)
  end
  return dtypes[word] or fail(path, "dtype: found %s, expected float32, bfloat16 or float16", shown(name))
end

-- The head that runs: the family's own, unless the config asks for one that is not modelled.
local function architecture_of(config, family)
  local first = type(config.architectures) == "table" and config.architectures[1]
  return type(first) == "string" and first or family.architecture
end

local function set_of(...)
  local set = {}
  for _, list in ipairs { ... } do
    for _, name in ipairs(list) do
      set[name] = true
    end
  end
  return set
end

-- Moves what stands under an alias to the key itself.
local function rename(config, path, family)
  for key, alias in pairs(family.aliases or {}) do
    local value = config[alias]
    if value ~= nil then
      if config[key] ~= nil and config[key] ~= value then
        fail(path, "%s and %s are the same; found %s and %s", key, alias, shown(config[key]), shown(value))
      end
      config[key], config[alias] = value, nil
    end
  end
end

-- The family's defaults and, over them, what the config says. Keys that would change the step are errors, keys of no
-- matter are passed over, others are named.
local function read_keys(config, path, family)
  local defaults, values, unknown = {}, {}, {}
  for i = 1, #family.keys, 2 do
    defaults[family.keys[i]] = family.keys[i + 1]
  end
  local is_inert = set_of(config_keys.inert, family.inert or {})
  rename(config, path, family)
  for key, value in pairs(config) do
    local refused = family.refused and family.refused[key] or config_keys.refused[key]
    if type(key) ~= "string" then
      fail(path, "expected keys with names")
    elseif defaults[key] ~= nil then
      values[key] = checked(path, key, value, defaults[key])
    elseif refused then
      if value ~= null and refused[1](value) then
        fail(path, "%s: %s", key, refused[2])
      end
    elseif not is_inert[key] then
      unknown[#unknown + 1] = key
    end
  end
  return values, unknown, defaults
end

-- Rows of a name that is there already are left out.
local function append(rows, more)
  local has = {}
  for _, row in ipairs(rows) do
    has[row[1]] = true
  end
  for _, row in ipairs(more) do
    if not has[row[1]] then
      rows[#rows + 1] = row
    end
  end
end

-- quantization_config sets the default of the parameter for it.
local function set_quantization(rows, config)
  local quantization = config.quantization_config
  for _, row in ipairs(rows) do
    if row[1] == "quantize" and config_keys.is_4bit(quantization) then
      row[2] = quantization.bnb_4bit_use_double_quant == true and "nf4_double" or "nf4"
    end
  end
  return rows
end

-- The rows for parameters{}: the config's keys, what goes in, the loop's.
local function make_rows(config, path, family, adapter_rows)
  local values, unknown, defaults = read_keys(config, path, family)
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
  append(rows, { { "architecture", architecture_of(config, family), "the model with its head, as Transformers names it" } })
  append(rows, config_tasks[family.task].parameters(values, family, config))
  append(rows, {
    { "dtype", dtype_of(config, path), "type of the weights", one_of = { "fp32", "bf16", "fp16" } },
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
  if p.architecture == family.architecture then
    return
  end
  if p.architecture:sub(-5) == "Model" then
    note(string.format("%s has no loss: %s runs", p.architecture, family.architecture))
    return
  end
  fail(path, "architectures: %s is not modelled; --set architecture=%s runs the config with that head", p.architecture,
    family.architecture)
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

local function name_unknown(unknown)
  if #unknown > 0 then
    note("keys that are not known, and have no effect here: " .. table.concat(unknown, ", "))
  end
end

-- Declares the parameters and returns their values. paths: what messages call the config and the adapter (nil: none).
function from_config.parameters(config, path, adapter, adapter_path)
  setmetatable(config, {}) -- it holds no tensors
  path = path or "config"
  local family = find_family(config, path)
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
  name_unknown(unknown)
  name_unknown(unknown_too)
  if config.auto_map and config.auto_map ~= null then
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

-- ---- as text ----

local function is_list(value)
  return #value > 0
end

-- A value as Lua text; what stands in tables in the order of their keys.
local function literal(value)
  if value == null then
    return "from_config.null"
  elseif type(value) == "string" then
    return string.format("%q", value)
  elseif type(value) ~= "table" then
    return tostring(value)
  end
  local parts = {}
  for key, member in pairs(value) do
    parts[#parts + 1] = is_list(value) and literal(member) or string.format("[%q] = %s", key, literal(member))
  end
  return #parts > 0 and "{ " .. table.concat(parts, ", ") .. " }" or "{}"
end

local function add_line(lines, key, value, help)
  lines[#lines + 1] = string.format("  %s = %s,%s", key, literal(value), help and " -- " .. help or "")
end

-- Keys that are no parameters, but say what the steps are.
local kept = {
  "rope_scaling", "rope_parameters", "rope_theta", "rope_local_base_freq", "partial_rotary_factor", "rotary_pct", "architectures",
  "torch_dtype", "dtype", "quantization_config",
}

-- The path for a comment, unless it would end the line.
local function comment_name(path)
  for i = 1, #path do
    if path:byte(i) < 32 then
      return "a config"
    end
  end
  return path
end

-- local config = { ... }: every key that matters, with the family's default where the config has none
local function add_config(lines, config, path, family)
  local values = read_keys(config, path, family)
  lines[#lines + 1] = "local config = {"
  add_line(lines, "model_type", config.model_type)
  for i = 1, #family.keys, 2 do
    local key, value = family.keys[i], family.keys[i + 1]
    if values[key] ~= nil then
      value = config[key]
    elseif config_keys.known[key].none == value then
      value = nil
    end
    if value ~= nil then
      add_line(lines, key, value, config_keys.known[key][1])
    end
  end
  for _, key in ipairs(kept) do
    if config[key] ~= nil and values[key] == nil then
      add_line(lines, key, config[key])
    end
  end
  if family.task == "image" then
    add_line(lines, "num_labels", config_tasks.labels(config))
  end
  lines[#lines + 1] = "}"
end

local function add_adapter(lines, adapter, path, family)
  config_adapter.read(adapter, path, fail, family)
  lines[#lines + 1] = "local adapter = {"
  for _, key in ipairs { "peft_type", "r", "lora_dropout", "target_modules" } do
    if adapter[key] ~= nil then
      add_line(lines, key, adapter[key])
    end
  end
  lines[#lines + 1] = "}"
end

local function add_lines(lines, more)
  table.move(more, 1, #more, #lines + 1, lines)
end

-- The scenario of a config, or of an adapter and its base, to be edited.
function from_config.write(config, path, base, base_path)
  local adapter = base and config or nil
  local adapter_path = path
  if adapter then
    config, path = base, base_path
  end
  local family = find_family(config, path)
  local lines = {
    "-- The scenario of " .. comment_name(adapter_path) .. ", as `vramsim scenario` wrote it. What is not here has no effect on memory.",
    'local from_config = use "from_config"',
  }
  add_lines(lines, family.task == "language" and { 'local language_model = use "language_model"', "" }
    or { 'local finetune = use "finetune"', 'local training = use "training"', "" })
  add_config(lines, config, path, family)
  if adapter then
    add_adapter(lines, adapter, adapter_path, family)
  end
  lines[#lines + 1] = adapter and 'local p = from_config.parameters(config, "config", adapter)'
    or "local p = from_config.parameters(config)"
  add_lines(lines, family.task == "language" and { "", "language_model.run(p, from_config.model)", "" } or {
    "local model = finetune.build(p, function()",
    "  return from_config.model(p)",
    "end)",
    "finetune.apply(p, model)",
    "local x, labels = from_config.inputs(p)",
    "",
    "training.run(p, model, function()",
    "  return model(x, labels)",
    "end)",
    "",
  })
  return table.concat(lines, "\n")
end

return from_config
