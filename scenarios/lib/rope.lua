-- rope.lua: Transformers' modeling_rope_utils.py (5.24): the frequencies of rotary embeddings by kind of scaling. Only sizes
-- and lives matter here: what is computed from numbers alone (attention factors, correction ranges) is left out.
local nn = use "nn"
local rope = {}

-- Each function: (dim, r, seq_len) -> inverse frequencies; dim: the part of a head that turns; r: config.rope;
-- seq_len: a tensor or nil.
local compute = {}

function compute.default(dim, r)
  local inv_freq = 1.0 / (r.theta ^ (torch.arange(0, dim, 2, torch.float32) / dim))
  return inv_freq
end

-- as the scaled kinds begin: numbers of int64 first
local function frequencies(dim, r)
  return 1.0 / (r.theta ^ (torch.arange(0, dim, 2, torch.int64):to(torch.float32) / dim))
end

function compute.linear(dim, r)
  local inv_freq = frequencies(dim, r)
  inv_freq:div_(r.factor)
  return inv_freq
end

-- In a forward, outside of the device that the model is built on, the numbers are made in host memory first.
local function numbers_from_host(dim)
  local default = torch.set_default_device("cpu")
  local numbers = torch.empty({ dim // 2 }, torch.float32) -- arange(0, dim, 2)
  torch.set_default_device(default)
  return numbers:cuda()
end

function compute.dynamic(dim, r, seq_len)
  if not seq_len then
    return 1.0 / (r.theta ^ (torch.arange(0, dim, 2, torch.int64):to(torch.float32) / dim))
  end
  seq_len = torch.maximum(seq_len, torch.scalar_tensor(torch.int64))
  local base = r.theta * ((r.factor * seq_len / r.positions) - (r.factor - 1)) ^ (dim / (dim - 2))
  local inv_freq = 1.0 / (base ^ (numbers_from_host(dim) / dim))
  return inv_freq
end

function compute.yarn(dim, r)
  local function linear_ramp_factor(dim_)
    local linear_func = (torch.arange(0, dim_, 1, torch.float32) - 1.0) / 1.0
    local ramp_func = torch.clamp(linear_func, 0, 1)
    return ramp_func
  end
  local pos_freqs = r.theta ^ (torch.arange(0, dim, 2):to(torch.float32) / dim)
  local inv_freq_extrapolation = 1.0 / pos_freqs
  local inv_freq_interpolation = 1.0 / (r.factor * pos_freqs)
  local inv_freq_extrapolation_factor = 1 - linear_ramp_factor(dim // 2):to(torch.float32)
  local inv_freq = inv_freq_interpolation * (1 - inv_freq_extrapolation_factor)
    + inv_freq_extrapolation * inv_freq_extrapolation_factor
  return inv_freq
end

function compute.llama3(dim, r)
  local inv_freq = frequencies(dim, r)
  local wavelen = 2 * math.pi / inv_freq
  local inv_freq_llama = torch.where(wavelen:gt(1.0), inv_freq / r.factor, inv_freq)
  local smooth_factor = (1.0 / wavelen - 1.0) / 1.0
  local smoothed_inv_freq = (1 - smooth_factor) * inv_freq_llama / r.factor + smooth_factor * inv_freq_llama
  local is_medium_freq = torch.bitwise_not(wavelen:lt(1.0)) * torch.bitwise_not(wavelen:gt(1.0))
  inv_freq_llama = torch.where(is_medium_freq, smoothed_inv_freq, inv_freq_llama)
  return inv_freq_llama
end

-- ext_factors: torch.tensor of a list of numbers
function compute.longrope(dim, r)
  local ext_factors = torch.empty({ dim // 2 }, torch.float32)
  local inv_freq_shape = torch.arange(0, dim, 2, torch.int64):float() / dim
  local inv_freq = 1.0 / (ext_factors * r.theta ^ inv_freq_shape)
  return inv_freq
end

rope.default = { kind = "default", theta = 10000.0 }

-- r: { kind, theta, factor, positions (max_position_embeddings), original (original_max_position_embeddings) }
function rope.compute(dim, r)
  return compute[r.kind](dim, r)
end

-- The sequence has grown beyond what the frequencies were made for, or is back in that range. The program reads both
-- comparisons off the device.
local function dynamic_frequency_update(module, dim, r, position_ids)
  local length, kept = position_ids:size(-1), module.rope_kept
  local seq_len = torch.max(position_ids) + 1
  local cached = module.cached_length or r.positions
  seq_len:gt(kept[1] or cached):item()
  if length > cached then
    local inv_freq = compute.dynamic(dim, r, seq_len)
    nn.replace(module, "inv_freq", inv_freq:as("parameter", "inv_freq"))
    kept[1], module.cached_length = seq_len, length
    cached = length
  end
  seq_len:lt(r.positions):item()
  if length < r.positions then
    if kept[1] then
      kept[1]:gt(r.positions):item()
    end
    if cached > r.positions then
      nn.replace(module, "inv_freq", module.original_inv_freq)
      kept[1], module.cached_length = nil, nil
    end
  end
end

-- The long or the short set of frequencies, written over those in use.
local function longrope_frequency_update(module, dim, r, position_ids)
  local kept = module.rope_kept
  local seq_len = torch.max(position_ids) + 1
  local long_inv_freq = kept[1]
  if not long_inv_freq then
    long_inv_freq = compute.longrope(dim, r)
  end
  kept[1] = long_inv_freq
  local inv_freq = torch.where(seq_len:gt(r.original), long_inv_freq, module.original_inv_freq)
  module.inv_freq:copy_(inv_freq)
end

local updates = { dynamic = dynamic_frequency_update, longrope = longrope_frequency_update }

-- dynamic_rope_update: what a forward does to the frequencies before it uses them. module: the rotary embedding, with
-- inv_freq and original_inv_freq, after rope.prepare
function rope.update(module, dim, r, position_ids)
  if updates[r.kind] then
    updates[r.kind](module, dim, r, position_ids)
  end
end

-- Room for what such an embedding keeps beside its buffers.
function rope.prepare(module, r)
  if updates[r.kind] then
    module.rope_kept = torch.keep(torch.list())
  end
end

return rope
