-- cache.lua: key/value caches of Transformers 5.24 (cache_utils.py). A layer keeps its tensors in a list of its own:
-- keys, values and, where it slides, the window's size.
local cache = {}
local KEYS, VALUES = 1, 2

-- DynamicLayer: grows by concatenation: the new tensor is made before the old one goes.
local function dynamic_layer()
  local self = { states = torch.keep(torch.list()), cumulative_length = 0 }
  function self.lazy_initialization(states, key_states, value_states)
    states:append(torch.empty({ 0 }, key_states.dtype))
    states:append(torch.empty({ 0 }, value_states.dtype))
  end
  function self.update(_, key_states, value_states)
    local states = self.states
    if #states == 0 then
      self.lazy_initialization(states, key_states, value_states)
    end
    self.cumulative_length = self.cumulative_length + key_states:size(-2)
    states[KEYS] = torch.cat({ states[KEYS], key_states }, -2):as("kv_cache", "keys")
    states[VALUES] = torch.cat({ states[VALUES], value_states }, -2):as("kv_cache", "values")
    return states[KEYS], states[VALUES]
  end
  function self.get_mask_sizes(_, query_length)
    return self.cumulative_length + query_length, 0
  end
  return setmetatable(self, {})
end

-- DynamicSlidingWindowLayer: attention gets everything, the layer keeps a view of the last window - 1: the memory behind
-- it is the whole concatenation's until the next one.
local function dynamic_sliding_window_layer(sliding_window)
  local self = dynamic_layer()
  local lazy_initialization = self.lazy_initialization
  function self.lazy_initialization(states, key_states, value_states)
    lazy_initialization(states, key_states, value_states)
    states:append(torch.empty({}, torch.int64))
  end
  function self.update(_, key_states, value_states)
    local states = self.states
    if #states == 0 then
      self.lazy_initialization(states, key_states, value_states)
    end
    self.cumulative_length = self.cumulative_length + key_states:size(-2)
    local full_key_states = torch.cat({ states[KEYS], key_states }, -2):as("kv_cache", "keys")
    local full_value_states = torch.cat({ states[VALUES], value_states }, -2):as("kv_cache", "values")
    states[KEYS] = full_key_states:slice(-2, -sliding_window + 1)
    states[VALUES] = full_value_states:slice(-2, -sliding_window + 1)
    return full_key_states, full_value_states
  end
  function self.get_mask_sizes(_, query_length)
    local seen = self.cumulative_length
    if seen >= sliding_window then
      return sliding_window - 1 + query_length, math.max(seen - sliding_window + 1, 0)
    end
    return seen + query_length, math.max(seen - sliding_window + 1, 0)
  end
  return self
end

-- DynamicCache: layers of the kinds that config tells.
function cache.DynamicCache(config)
  local self = { layers = {}, first = {} }
  for i = 1, config.layers do
    local kind = config.layer_kinds[i]
    local slides = kind == "sliding" and config.sliding_window > 0
    self.layers[i] = slides and dynamic_sliding_window_layer(config.sliding_window) or dynamic_layer()
    self.first[kind] = self.first[kind] or self.layers[i]
  end
  function self.update(_, key_states, value_states, layer_idx)
    return self.layers[layer_idx]:update(key_states, value_states)
  end
  function self.get_seq_length()
    return self.layers[1].cumulative_length
  end
  -- what a mask must know: keys, their offset, the query's offset, of the first layer of a kind
  function self.get_mask_sizes(_, query_length, kind)
    local layer = self.first[kind] or self.layers[1]
    local kv_length, kv_offset = layer:get_mask_sizes(query_length)
    return kv_length, kv_offset, layer.cumulative_length
  end
  return setmetatable(self, {})
end

return cache
