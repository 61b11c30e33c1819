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

local function preprocess_mask_arguments(inputs_embeds, attention_mask, position_ids)
  local q_length = inputs_embeds:size(1)
  if position_ids and not attention_mask then
    local batch_size = inputs_embeds:size(0)
    if batch_size ~= position_ids:size(0) then
      position_ids = position_ids:expand(batch_size, -1)
    end
    find_packed_sequence_indices(position_ids)
  end
  return q_length
end

-- A boolean mask [batch, 1, q, kv] by comparing index vectors.
local function sdpa_mask(batch_size, q_length, kv_length)
  local batch_arange = torch.arange(batch_size)
  local head_arange = torch.arange(1)
  local q_arange = torch.arange(q_length) + 0
  local kv_arange = torch.arange(kv_length) + 0
  local function causal_mask_function(_, _, q_idx, kv_idx)
    return kv_idx:le(q_idx)
  end
  local attention_mask = causal_mask_function(
    batch_arange:view(-1, 1, 1, 1),
    head_arange:view(1, -1, 1, 1),
    q_arange:view(1, 1, -1, 1),
    kv_arange:view(1, 1, 1, -1)
  )
  attention_mask = attention_mask:expand(batch_size, -1, q_length, kv_length)
  return attention_mask
end

-- eager attention adds 0 or the lowest number of the type
local function eager_mask(batch_size, q_length, kv_length, dtype)
  local mask = sdpa_mask(batch_size, q_length, kv_length)
  mask = torch.where(mask, torch.zeros({}, dtype), -1.0)
  return mask
end

-- Nothing for sdpa (its kernels know causal), a mask of the activations' type for eager.
function masking.create_causal_mask(config, inputs_embeds, attention_mask, position_ids)
  local q_length = preprocess_mask_arguments(inputs_embeds, attention_mask, position_ids)
  if config.attention ~= "eager" then
    return nil
  end
  return eager_mask(inputs_embeds:size(0), q_length, q_length, inputs_embeds.dtype)
end

return masking
