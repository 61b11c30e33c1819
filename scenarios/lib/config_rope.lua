-- config_rope.lua: rotary embeddings and kinds of layers in a config of Transformers 5.24 (RotaryEmbeddingConfigMixin):
-- rope_parameters, or rope_scaling and rope_theta as before release 5.
local config_keys = use "config_keys"
local config_rope = {}

local kinds = { "default", "linear", "dynamic", "yarn", "llama3", "longrope" }

-- A member that is there and not null, else nil.
local function get(object, key)
  local value = object[key]
  if value ~= config_keys.null then
    return value
  end
end

-- rope_scaling or rope_parameters as they stand, {} when there is none; nil: no object.
function config_rope.dict(config)
  local scaling = get(config, "rope_scaling") or get(config, "rope_parameters") or {}
  return type(scaling) == "table" and #scaling == 0 and scaling or nil
end

-- The scaling as the config has it: rope_scaling goes before rope_parameters. nested: the kind of layers, where these
-- have dicts of their own.
local function scaling_of(config, nested)
  local scaling = config_rope.dict(config)
  if nested and type(get(scaling, nested)) == "table" then
    scaling = get(scaling, nested)
  end
  return scaling
end

local function kind_of(scaling, family)
  local kind = get(scaling, "rope_type") or get(scaling, "type") or "default"
  return family.renamed_kinds and family.renamed_kinds[kind] or kind
end

-- Families without rotary embeddings have no theta.
function config_rope.rows(config, family, path, fail)
  if not family.theta then
    return {}
  end
  local one_of = family.rope_kinds or kinds
  if not config_rope.dict(config) then
    local found = get(config, "rope_scaling") or get(config, "rope_parameters")
    fail(path, "rope_scaling: found %s, expected an object, or null", type(found) == "table" and "a list" or tostring(found))
  end
  local kind, known = kind_of(scaling_of(config, "full_attention"), family), false
  for _, name in ipairs(one_of) do
    known = known or name == kind
  end
  if not known then
    fail(path, "rope_scaling: kind '%s' is not modelled; known: %s", tostring(kind), table.concat(one_of, " "))
  end
  return { { "rope_type", kind, "scaling of the rotary embeddings", one_of = one_of } }
end

local function number(value, default)
  return type(value) == "number" and value or default
end

-- What rope.lua takes.
local function description(scaling, kind, theta, p)
  local positions = p.max_position_embeddings
  local original = p.original_max_position_embeddings or 0
  return {
    kind = kind,
    theta = number(get(scaling, "rope_theta"), theta) + 0.0,
    factor = number(get(scaling, "factor"), 1.0) + 0.0,
    positions = positions,
    original = original > 0 and original or number(get(scaling, "original_max_position_embeddings"), positions),
  }
end

-- Sets p.rope, p.partial_rotary_factor (nil: all of a head turns) and, for a family whose kinds of layers have
-- frequencies of their own, p.ropes.
function config_rope.complete(config, p, family)
  if not family.theta then
    return
  end
  local scaling = scaling_of(config, "full_attention")
  local theta = number(get(config, "rope_theta"), family.theta)
  p.rope = description(scaling, p.rope_type, theta, p)
  local partial = number(get(config, "partial_rotary_factor"), number(get(config, "rotary_pct"), family.partial))
  p.partial_rotary_factor = number(get(scaling, "partial_rotary_factor"), partial)
  if family.local_theta then
    local nested = type(get(config, "rope_parameters")) == "table" and get(config.rope_parameters, "sliding_attention")
    local sliding = type(nested) == "table" and nested or {}
    local local_theta = number(get(config, "rope_local_base_freq"), family.local_theta)
    p.ropes = { full = p.rope, sliding = description(sliding, kind_of(sliding, family), local_theta, p) }
  end
end

-- Names of kinds of layers as 1 (slides) and 0; nil when one is not known.
function config_rope.layer_types(names)
  if type(names) ~= "table" then
    return nil
  end
  for key in pairs(names) do
    if type(key) ~= "number" then
      return nil
    end
  end
  local numbers = {}
  for i, name in ipairs(names) do
    numbers[i] = ({ sliding_attention = 1, full_attention = 0 })[name]
    if not numbers[i] then
      return nil
    end
  end
  return numbers
end

return config_rope
