-- cache.lua: key/value caches of Transformers 5.24 (cache_utils.py).
local cache = {}

-- DynamicCache: each layer's keys and values grow by concatenation: the new tensor is made before the old one goes.
local function update(self, key_states, value_states, layer_idx)
  local keys, values = self.keys, self.values
  if #keys < layer_idx then -- lazy_initialization
    keys:append(torch.empty({ 0 }, key_states.dtype))
    values:append(torch.empty({ 0 }, value_states.dtype))
  end
  keys[layer_idx] = torch.cat({ keys[layer_idx], key_states }, -2):as("kv_cache", "keys")
  values[layer_idx] = torch.cat({ values[layer_idx], value_states }, -2):as("kv_cache", "values")
  return keys[layer_idx], values[layer_idx]
end

local function get_seq_length(self)
  return #self.keys > 0 and self.keys[1]:size(-2) or 0
end

function cache.DynamicCache()
  local self = { keys = torch.keep(torch.list()), values = torch.keep(torch.list()) }
  self.update, self.get_seq_length = update, get_seq_length
  return setmetatable(self, {})
end

return cache
