-- masking.lua: Transformers' masking_utils.py (5.24): what a model's forward asks for before its first layer.
local masking = {}

-- Several sequences in one row? Looked up in the position ids of every training step; one sequence gives none.
local function find_packed_sequence_indices(position_ids)
  local first_dummy_value = position_ids:slice(1, nil, 1) - 1
  local function diff(input, prepend) -- torch.diff
    local joined = torch.cat({ prepend, input }, -1)
    local n = joined:size(-1)
    return joined:narrow(-1, 1, n - 1) - joined:narrow(-1, 0, n - 1)
  end
  local position_diff = diff(position_ids, first_dummy_value)
  local packed_sequence_mask = position_diff:ne(1):cumsum(-1)
  packed_sequence_mask:select(1, -1):eq(0):all():item()
  return nil
end

-- With a cache the keys seen before count; without one the position ids tell whether sequences are packed.
local function preprocess_mask_arguments(inputs_embeds, attention_mask, position_ids, cache, kind)
  local q_length = inputs_embeds:size(1)
  if cache then
    local kv_length, kv_offset, q_offset = cache:get_mask_sizes(q_length, kind)
    return q_length, kv_length, q_offset, kv_offset
  end
  if position_ids and not attention_mask then
    local batch_size = inputs_embeds:size(0)
    if batch_size ~= position_ids:size(0) then
      position_ids = position_ids:expand(batch_size, -1)
    end
    find_packed_sequence_indices(position_ids)
  end
  return q_length, q_length, 0, 0
end

local function causal_mask_function(_, _, q_idx, kv_idx)
  return kv_idx:le(q_idx)
end

local function sliding_window_overlay(sliding_window)
  return function(_, _, q_idx, kv_idx)
    return kv_idx:gt(q_idx - sliding_window)
  end
end

local function and_masks(...)
  local mask_functions = { ... }
  return function(batch_idx, head_idx, q_idx, kv_idx)
    local result = torch.ones({}, torch.bool)
    for _, mask in ipairs(mask_functions) do
      result = result:bitwise_and(mask(batch_idx, head_idx, q_idx, kv_idx))
    end
    return result
  end
end

-- sdpa's kernels know causal: no mask where that says it all (_ignore_causal_mask_sdpa)
local function ignore_causal_mask_sdpa(q_length, kv_length, q_offset, local_size)
  if local_size and kv_length >= local_size then
    return false
  end
  if q_length == 1 or kv_length == q_length then
    return true
  end
  if type(q_offset) == "userdata" then -- of a static cache: the host reads whether it is 0
    q_offset:eq(0):item()
    return false
  end
  return q_offset == 0
end

-- A boolean mask [batch, 1, q, kv] by comparing index vectors.
local function sdpa_mask(batch_size, q_length, kv_length, q_offset, kv_offset, mask_function)
  local batch_arange = torch.arange(batch_size)
  local head_arange = torch.arange(1)
  local q_arange = torch.arange(q_length) + q_offset
  local kv_arange = torch.arange(kv_length) + kv_offset
  local attention_mask = mask_function(
    batch_arange:view(-1, 1, 1, 1),
    head_arange:view(1, -1, 1, 1),
    q_arange:view(1, 1, -1, 1),
    kv_arange:view(1, 1, 1, -1)
  )
  attention_mask = attention_mask:expand(batch_size, -1, q_length, kv_length)
  return attention_mask
end

-- eager attention adds 0 or the lowest number of the type
local function eager_mask(batch_size, q_length, kv_length, q_offset, kv_offset, mask_function, dtype)
  local mask = sdpa_mask(batch_size, q_length, kv_length, q_offset, kv_offset, mask_function)
  mask = torch.where(mask, torch.zeros({}, dtype), -1.0)
  return mask
end

-- Nothing for sdpa while causal says it all, else a boolean mask; a mask of the activations' type for eager.
-- kind: "full", or "sliding" for keys within config.sliding_window of the query
-- keep: a mask even where causal says it all (allow_is_causal_skip=False)
function masking.create_causal_mask(config, inputs_embeds, attention_mask, position_ids, cache, kind, keep)
  local q_length, kv_length, q_offset, kv_offset =
    preprocess_mask_arguments(inputs_embeds, attention_mask, position_ids, cache, kind)
  local batch_size = inputs_embeds:size(0)
  local sliding_window = kind == "sliding" and config.sliding_window > 0 and config.sliding_window or nil
  local mask_function = causal_mask_function
  if sliding_window then
    mask_function = and_masks(sliding_window_overlay(sliding_window), causal_mask_function)
  end
  if config.attention == "eager" then
    return eager_mask(batch_size, q_length, kv_length, q_offset, kv_offset, mask_function, inputs_embeds.dtype)
  end
  keep = keep or (cache and cache.is_compileable and q_length == 1)
  if not keep and ignore_causal_mask_sdpa(q_length, kv_length, q_offset, sliding_window) then
    return nil
  end
  return sdpa_mask(batch_size, q_length, kv_length, q_offset, kv_offset, mask_function)
end

return masking
