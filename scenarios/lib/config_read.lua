-- config_read.lua: the keys of a config, checked and told apart: values of the family's own keys, those of no matter, those
-- that are not modelled. Messages begin with the config's path.
local config_keys = use "config_keys"
local config_rope = use "config_rope"
local families = use "config_families"
local config_read = {}
local null = config_keys.null

-- fail(path, format, ...)
function config_read.fail(path, ...)
  error(path .. ": " .. string.format(...), 0)
end

local fail = config_read.fail

local function names_of(table_)
  local names = {}
  for name in pairs(table_) do
    names[#names + 1] = name
  end
  return table.concat(names, " ")
end

-- A model of text and pictures whose text model is of a family here: { the text model's type, its head, what is left out }
local text_models = {
  gemma3 = { "gemma3_text", "Gemma3ForCausalLM", "vision_config, mm_tokens_per_image: the vision tower and its projector" },
}

-- The config of the text model that stands in another one's text_config; others as they are.
function config_read.text_part(config)
  local text = text_models[config.model_type]
  if not text or type(config.text_config) ~= "table" then
    return config
  end
  local part = setmetatable({}, {})
  for _, key in ipairs { "dtype", "torch_dtype", "quantization_config" } do
    part[key] = config[key]
  end
  for key, value in pairs(config.text_config) do
    part[key] = value
  end
  part.model_type, part.architectures = text[1], { text[2] }
  part.text_of = string.format("%s are not modelled: the text model of %s alone runs, as %s", text[3], config.model_type, text[2])
  return part
end

-- The row of the model_type.
function config_read.family(config, path)
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
  if row.min and value < row.min then
    fail(path, "%s: found %s, expected at least %s", key, tostring(value), tostring(row.min))
  elseif row.max and value > row.max then
    fail(path, "%s: found %s, expected at most %s", key, tostring(value), tostring(row.max))
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

-- The type of the weights that the config asks for.
function config_read.dtype(config, path)
  local name = config.dtype
  if name == nil or name == null then
    name = config.torch_dtype
  end
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
function config_read.architecture(config, family)
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
function config_read.keys(config, path, family)
  local defaults, values, unknown = {}, {}, {}
  for i = 1, #family.keys, 2 do
    defaults[family.keys[i]] = family.keys[i + 1]
  end
  local is_inert = set_of(config_keys.inert, family.inert or {})
  rename(config, path, family)
  if family.prepare then
    family.prepare(config)
  end
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

return config_read
