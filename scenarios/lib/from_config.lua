-- from_config.lua: a config.json of Transformers 5.24 (or PEFT's adapter_config.json) as a scenario: training steps of the
-- model that it describes. Each key that matters is a parameter of its own name, beside those of the training loop.
local config_keys = use "config_keys"
local config_rope = use "config_rope"
local families = use("config_families").rows
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

-- Keys that would change the step are errors, keys of no matter are passed over, others are named.
local function read_keys(config, path, family)
  local defaults, values, unknown = {}, {}, {}
  for i = 1, #family.keys, 2 do
    defaults[family.keys[i]] = family.keys[i + 1]
  end
  local is_inert = {}
  for _, list in ipairs { config_keys.inert, family.inert or {} } do
    for _, key in ipairs(list) do
      is_inert[key] = true
    end
  end
  for key, value in pairs(config) do
    local refused = config_keys.refused[key]
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
  return values, unknown
end

-- The rows for parameters{}: the config's keys, what goes in, the loop's.
local function make_rows(config, path, family)
  local values, unknown = read_keys(config, path, family)
  local rows = {}
  for i = 1, #family.keys, 2 do
    local key, default = family.keys[i], family.keys[i + 1]
    local row = config_keys.known[key]
    if values[key] ~= nil then
      default = values[key]
    end
    rows[#rows + 1] = { key, default, row[1], min = row.min, max = row.max, one_of = row.one_of }
  end
  for _, row in ipairs(config_rope.rows(config, family, path, fail)) do
    rows[#rows + 1] = row
  end
  for _, row in ipairs(family.parameters or {}) do
    rows[#rows + 1] = row
  end
  local positions = values.max_position_embeddings or 2048
  for _, row in ipairs {
    { "architecture", architecture_of(config, family), "the model with its head, as Transformers names it" },
    { "batch", 1, "sequences a step (a micro-batch)", min = 1 },
    { "seq", math.min(positions, 2048), "tokens a sequence", min = 1 },
    { "dtype", dtype_of(config, path), "type of the weights", one_of = { "fp32", "bf16", "fp16" } },
    family.only_eager and { "attention", "eager", "attention implementation", one_of = { "eager" } }
      or { "attention", "sdpa", "attention implementation", one_of = { "eager", "sdpa" } },
  } do
    rows[#rows + 1] = row
  end
  return training.parameters(rows), unknown
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

-- Declares the parameters and returns their values. path: what messages call the config.
function from_config.parameters(config, path)
  setmetatable(config, {}) -- it holds no tensors
  path = path or "config"
  local family = find_family(config, path)
  local rows, unknown = make_rows(config, path, family)
  local p = parameters(rows)
  check_architecture(p, path, family)
  if #unknown > 0 then
    note("keys that are not known, and have no effect here: " .. table.concat(unknown, ", "))
  end
  if config.auto_map and config.auto_map ~= null then
    note "auto_map names code of the model's own: the model of Transformers stands in for it"
  end
  p.model_type, p.path = config.model_type, path
  config_rope.complete(config, p, family)
  return p
end

-- The model, and what goes in: x and labels.
function from_config.model(p)
  return families[p.model_type].build(p)
end

function from_config.inputs(p)
  local input_ids = torch.zeros({ p.batch, p.seq }, torch.int64):as("input", "input_ids")
  return input_ids, input_ids
end

-- The whole scenario.
function from_config.run(config, path)
  local p = from_config.parameters(config, path)
  local model = from_config.model(p)
  local x, labels = from_config.inputs(p)
  training.run(p, model, function()
    return model(x, labels)
  end)
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
local kept = { "rope_scaling", "rope_parameters", "rope_theta", "rope_local_base_freq", "partial_rotary_factor", "architectures",
  "torch_dtype", "dtype" }

-- The path for a comment, unless it would end the line.
local function comment_name(path)
  for i = 1, #path do
    if path:byte(i) < 32 then
      return "a config"
    end
  end
  return path
end

-- The scenario of a config, to be edited: every key that matters, with the family's default where the config has none.
function from_config.write(config, path)
  local family = find_family(config, path)
  local values = read_keys(config, path, family)
  local lines = {
    "-- The scenario of " .. comment_name(path) .. ", as `vramsim scenario` wrote it. What is not here has no effect on memory.",
    'local from_config = use "from_config"',
    'local training = use "training"',
    "",
    "local config = {",
  }
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
  for _, line in ipairs {
    "}",
    "local p = from_config.parameters(config)",
    "local model = from_config.model(p)",
    "local x, labels = from_config.inputs(p)",
    "",
    "training.run(p, model, function()",
    "  return model(x, labels)",
    "end)",
    "",
  } do
    lines[#lines + 1] = line
  end
  return table.concat(lines, "\n")
end

return from_config
