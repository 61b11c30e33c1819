-- cache.lua: key/value caches of Transformers 5.24 (cache_utils.py). A layer keeps its tensors in a list of its own:
-- keys, values and, where it slides, the window's size.
local cache = {}
local KEYS, VALUES, LENGTH = 1, 2, 3

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
  function self.get_seq_length()
    return self.cumulative_length
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

-- StaticLayer: tensors for all tokens that will ever be there, made at the first update and written in place. How many
-- there are stands in a tensor on the device.
local function static_layer(max_cache_len)
  local self = { states = torch.keep(torch.list()), max_cache_len = max_cache_len }
  function self.lazy_initialization(states, key_states, value_states)
    local batch, heads = key_states:size(0), key_states:size(1)
    states:append(torch.zeros({ batch, heads, max_cache_len, key_states:size(-1) }, key_states.dtype):as("kv_cache", "keys"))
    states:append(torch.zeros({ batch, heads, max_cache_len, value_states:size(-1) }, value_states.dtype):as("kv_cache", "values"))
    states:append(torch.host_scalar(torch.int64):cuda())
  end
  -- the new states at their place in the tensors
  function self.write(states, key_states, value_states)
    local kv_length = key_states:size(-2)
    local cache_position = torch.arange(kv_length) + states[LENGTH]
    states[LENGTH]:add_(kv_length)
    states[KEYS]:index_copy_(2, cache_position, key_states)
    states[VALUES]:index_copy_(2, cache_position, value_states)
  end
  function self.update(_, key_states, value_states)
    local states = self.states
    if #states == 0 then
      self.lazy_initialization(states, key_states, value_states)
    end
    self.write(states, key_states, value_states)
    return states[KEYS], states[VALUES]
  end
  function self.get_mask_sizes()
    return max_cache_len, 0
  end
  function self.get_seq_length()
    return #self.states > 0 and self.states[LENGTH] or 0
  end
  return setmetatable(self, {})
end

-- StaticSlidingWindowLayer: a window of tokens. When it is full, all of it moves by one and is copied back.
local function static_sliding_window_layer(max_cache_len, sliding_window)
  local window = math.min(sliding_window, max_cache_len)
  local self = static_layer(window)
  self.cumulative_length = 0
  local function roll_in(states, key_states, value_states)
    local new_keys = states[KEYS]:roll(-1, -2)
    local new_values = states[VALUES]:roll(-1, -2)
    local index = torch.host_scalar(torch.int64):unsqueeze(0):cuda()
    new_keys:index_put_(index, key_states)
    new_values:index_put_(index, value_states)
    states[KEYS]:copy_(new_keys)
    states[VALUES]:copy_(new_values)
  end
  function self.update(_, key_states, value_states)
    local states = self.states
    if #states == 0 then
      self.lazy_initialization(states, key_states, value_states)
    end
    local kv_length, current_length = key_states:size(-2), self.cumulative_length
    self.cumulative_length = current_length + kv_length
    if current_length >= window and kv_length == 1 then
      roll_in(states, key_states, value_states)
      return states[KEYS], states[VALUES]
    end
    if self.cumulative_length <= window then
      self.write(states, key_states, value_states)
      return states[KEYS], states[VALUES]
    end
    local full_key_states, full_value_states = key_states, value_states
    if current_length > 0 then
      local first, last = current_length >= window and 1 or 0, math.min(current_length, window)
      full_key_states = torch.cat({ states[KEYS]:slice(-2, first, last), key_states }, -2)
      full_value_states = torch.cat({ states[VALUES]:slice(-2, first, last), value_states }, -2)
    end
    states[KEYS]:copy_(full_key_states:slice(-2, -window))
    states[VALUES]:copy_(full_value_states:slice(-2, -window))
    return full_key_states, full_value_states
  end
  function self.get_mask_sizes(_, query_length)
    local seen = self.cumulative_length
    local kv_offset = math.max(seen - window + 1, 0)
    if seen >= window then
      return window + query_length - 1, kv_offset
    end
    return math.max(seen + query_length, window), kv_offset
  end
  function self.get_seq_length()
    return self.cumulative_length
  end
  return self
end

-- Layers of the kinds that config tells, each made by make(whether it slides).
local function cache_of(config, make)
  local self = { layers = {}, first = {} }
  for i = 1, config.layers do
    local kind = config.layer_kinds[i]
    self.layers[i] = make(kind == "sliding" and config.sliding_window > 0)
    self.first[kind] = self.first[kind] or self.layers[i]
  end
  function self.update(_, key_states, value_states, layer_idx)
    return self.layers[layer_idx]:update(key_states, value_states)
  end
  function self.get_seq_length()
    return self.layers[1]:get_seq_length()
  end
  -- what a mask must know: keys, their offset, the query's offset, of the first layer of a kind
  function self.get_mask_sizes(_, query_length, kind)
    local layer = self.first[kind] or self.layers[1]
    local kv_length, kv_offset = layer:get_mask_sizes(query_length)
    return kv_length, kv_offset, layer:get_seq_length()
  end
  return setmetatable(self, {})
end

function cache.DynamicCache(config)
  return cache_of(config, function(slides)
    return slides and dynamic_sliding_window_layer(config.sliding_window) or dynamic_layer()
  end)
end

-- max_cache_len: tokens at most
function cache.StaticCache(config, max_cache_len)
  local self = cache_of(config, function(slides)
    return slides and static_sliding_window_layer(max_cache_len, config.sliding_window) or static_layer(max_cache_len)
  end)
  self.is_compileable = true
  return self
end

return cache
