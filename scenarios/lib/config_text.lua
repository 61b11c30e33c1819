-- config_text.lua: the scenario that a config stands for, as Lua text.
local config_keys = use "config_keys"
local config_read = use "config_read"
local config_tasks = use "config_tasks"
local config_adapter = use "config_adapter"
local config_text = {}

local function is_list(value)
  return #value > 0
end

-- A value as Lua text; what stands in tables in the order of their keys.
local function literal(value)
  if value == config_keys.null then
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
  local values = config_read.keys(config, path, family)
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
  if family.task == "image" or family.task == "text" then
    add_line(lines, "num_labels", config_tasks.labels(config))
  end
  lines[#lines + 1] = "}"
end

local function add_adapter(lines, adapter, path, family)
  config_adapter.read(adapter, path, config_read.fail, family)
  lines[#lines + 1] = "local adapter = {"
  for _, key in ipairs { "peft_type", "r", "lora_dropout", "use_dora", "target_modules" } do
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
function config_text.write(config, path, base, base_path)
  local adapter = base and config or nil
  local adapter_path = path
  if adapter then
    config, path = base, base_path
  end
  local family = config_read.family(config, path)
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

return config_text
