-- generation.lua: a prompt and tokens after it, with a key/value cache. Either a loop that calls
-- the model, or Transformers' model.generate (5.24, generation/utils.py: greedy, a batch without padding).
local cache = use "cache"
local llama = use "llama"
local generation = {}

local function make_cache(p, model, max_cache_len)
  if p.cache == "static" then
    return cache.StaticCache(model.config, max_cache_len)
  end
  return cache.DynamicCache(model.config)
end

local function ids(batch, length)
  return torch.zeros({ batch, length }, torch.int64):as("input", "input_ids")
end

-- A prompt, then tokens one at a time. The scenario's tokens are all the same: sizes are what counts. Returns the
-- simulated seconds of one token.
function generation.loop(p, model)
  local input_ids = ids(p.batch, p.prompt)
  local past = make_cache(p, model, p.prompt + p.new_tokens)
  local autocast = p.autocast or "none"
  phase "prefill"
  local out = torch.no_grad(torch.autocast, autocast, model, input_ids, nil, past)
  torch.synchronize()
  local start = torch.simulated_time()
  local token = ids(p.batch, 1)
  for _ = 1, p.new_tokens do
    phase "decode"
    out = torch.no_grad(torch.autocast, autocast, model, token, nil, past)
  end
  torch.synchronize()
  return (torch.simulated_time() - start) / math.max(p.new_tokens, 1)
end

-- ---- model.generate ----

-- _tensor_or_none: tokens' numbers on the device
local function token_tensor(count)
  local default = torch.set_default_device("cpu")
  local tokens = torch.zeros({ count }, torch.int64)
  torch.set_default_device(default)
  return tokens:cuda()
end

local function isin(elements, test_elements)
  local out = torch.empty(elements.shape, torch.bool)
  out:copy_(elements:unsqueeze(-1):eq(test_elements):any(-1))
  return out
end

local function prepare_special_tokens(end_tokens)
  if end_tokens == 0 then
    return {}
  end
  local bos_token_tensor, eos_token_tensor = token_tensor(1), token_tensor(end_tokens)
  local pad_token_tensor = eos_token_tensor:select(0, 0)
  isin(eos_token_tensor, pad_token_tensor):any():item()
  eos_token_tensor:lt(0):any():item()
  return { bos = bos_token_tensor, eos = eos_token_tensor, pad = pad_token_tensor }
end

local function prepare_position_ids(attention_mask)
  local position_ids = attention_mask:cumsum(-1) - 1
  position_ids = position_ids:masked_fill(attention_mask:eq(0), 0)
  return position_ids
end

local function prepare_inputs(model, input_ids, position_ids, past, next_sequence_length)
  local model_inputs = { last_logits = true }
  local length = next_sequence_length or input_ids:size(1)
  input_ids = next_sequence_length and input_ids:slice(1, -length) or input_ids
  model_inputs.input_ids = input_ids:clone()
  model_inputs.position_ids = position_ids
  if position_ids:size(-1) ~= length then
    model_inputs.position_ids = position_ids:slice(-1, -length):clone()
  end
  if past.is_compileable then
    local masks = llama.create_masks(model.config, torch.empty({ input_ids:size(0), length, 0 }, model.config.dtype),
      model_inputs.position_ids, past)
    local contiguous, found = {}, false
    for kind, mask in pairs(masks) do
      contiguous[kind], found = mask:contiguous(), true
    end
    -- a config with kinds of layers gets a table of masks, made or not; without one, no mask is none
    model_inputs.masks = (found or model.config.mask_kinds[2]) and contiguous or nil
  end
  return model_inputs
end

local function next_position_ids(position_ids)
  local next_ids = torch.arange(1):view(1, -1) + position_ids:slice(-1, -1) + 1
  next_ids = torch.cat({ position_ids, next_ids }, -1)
  return next_ids
end

-- StoppingCriteriaList of a maximal length and end tokens (if any)
local function stopping_criteria(input_ids, eos_token_id)
  local batch = input_ids:size(0)
  local is_done = torch.zeros({ batch }, torch.bool)
  is_done = is_done:bitwise_or(torch.zeros({ batch }, torch.bool))
  if eos_token_id then
    is_done = is_done:bitwise_or(isin(input_ids:slice(1, -1), eos_token_id):any(-1))
  end
  return is_done
end

local function sample(p, model, input_ids, special, past, position_ids)
  local unfinished_sequences = torch.ones({ p.batch }, torch.int64)
  local outputs
  local function prefill()
    local model_inputs = prepare_inputs(model, input_ids, position_ids, past)
    return model(model_inputs.input_ids, nil, past, model_inputs)
  end
  phase "prefill"
  outputs = prefill()
  local next_tokens, next_token_logits, model_inputs
  for i = 1, p.new_tokens do
    if i > 1 then
      phase "decode"
      model_inputs = prepare_inputs(model, input_ids, position_ids, past, 1)
      outputs = model(model_inputs.input_ids, nil, past, model_inputs)
    end
    position_ids = next_position_ids(position_ids)
    next_token_logits = outputs.logits:select(1, -1):to(torch.float32, true)
    next_tokens = next_token_logits:argmax(-1)
    if special.eos then
      next_tokens = next_tokens * unfinished_sequences + special.pad * (1 - unfinished_sequences)
    end
    input_ids = torch.cat({ input_ids, next_tokens:unsqueeze(-1) }, -1)
    unfinished_sequences = unfinished_sequences:bitwise_and(stopping_criteria(input_ids, special.eos):bitwise_not())
    unfinished_sequences:max():eq(0):item()
    outputs = nil
  end
  return input_ids
end

local function generate(p, model)
  if model.config.classes.has_experts then
    error("generate_call: model.generate runs experts as batched products, which are not modelled; leave it out", 0)
  end
  local x = ids(p.batch, p.prompt)
  local attention_mask = torch.ones({ p.batch, p.prompt }, torch.int64):as("input", "attention_mask")
  local function call(inputs_tensor)
    local special = prepare_special_tokens(p.end_tokens)
    if p.batch > 1 and special.pad then
      attention_mask:select(1, -1):eq(0):any():item()
    end
    local position_ids = prepare_position_ids(attention_mask)
    attention_mask:eq(1):all():item()
    local past = make_cache(p, model, p.prompt + p.new_tokens - 1)
    inputs_tensor:lt(0):any():item()
    return sample(p, model, inputs_tensor, special, past, position_ids)
  end
  return torch.no_grad(torch.autocast, p.autocast, call, x)
end

function generation.run(p, model)
  if p.generate_call then
    return generate(p, model)
  end
  return generation.loop(p, model)
end

return generation
