-- functional.lua: torch.nn.functional, where it is more than one op. Each is written as ATen or torch/nn/functional.py
-- composes it: what is right in an expression and made first there is made first here.
local F = {}

-- Functions that autocast runs in float32 (ATen/autocast_mode.h, "fp32"): their tensors are cast, inside it is off.
local function in_float32(f)
  return function(...)
    if torch.autocast_dtype() == "none" then
      return f(...)
    end
    local region = torch.autocast_enter "none"
    local arguments = table.pack(...)
    for i = 1, arguments.n do
      local x = arguments[i]
      if type(x) == "userdata" and (x.dtype == "float16" or x.dtype == "bfloat16") then
        arguments[i] = x:float()
      end
    end
    local result = f(table.unpack(arguments, 1, arguments.n))
    torch.autocast_leave(region)
    return result
  end
end

-- The mean, the sum, or all values (Loss.cpp apply_loss_reduction).
local function reduced(loss, reduction)
  if reduction == "none" then
    return loss
  elseif reduction == "sum" then
    return loss:sum()
  elseif reduction == nil or reduction == "mean" then
    return loss:mean()
  end
  error("reduction '" .. tostring(reduction) .. "': expected mean, sum or none")
end

local function check_options(name, options, known)
  for key in pairs(options) do
    if not known[key] then
      error("F." .. name .. ": unknown option '" .. tostring(key) .. "'")
    end
  end
end

-- Loss.cpp cross_entropy_loss_label_smoothing
local function smoothed(input, target, options)
  local probabilities = torch.log_softmax(input, 1, input.dtype)
  local nllloss = torch.nll_loss(probabilities, target, nil, options.reduction)
  local smooth_loss = -probabilities:sum(1)
  local ignore_mask = target:eq(options.ignore_index or -100)
  smooth_loss:masked_fill_(ignore_mask, 0.0)
  local ret
  if options.reduction == "none" then
    ret = smooth_loss
    local weighted = ret * 0.5
    return nllloss * 0.5 + weighted
  elseif options.reduction == "sum" then
    ret = smooth_loss:sum()
  else
    local function mean()
      local true_mask = ignore_mask:bitwise_not()
      local count = true_mask:sum()
      ret = smooth_loss:sum() / count
    end
    mean()
  end
  local weighted = ret * 0.5
  return nllloss * 0.5 + weighted
end

-- Loss.cpp cross_entropy_loss_prob_target: a distribution for each row
local function of_distribution(input, target, options)
  local log_probabilities = torch.log_softmax(input, 1, input.dtype)
  local label_smoothing = options.label_smoothing or 0
  if label_smoothing > 0 then
    target = target * (1 - label_smoothing) + 0.5
  end
  local weighted = log_probabilities * target
  if options.weight then
    weighted = weighted * options.weight
  end
  if options.reduction == "none" then
    return -weighted:sum(1)
  end
  local sum = weighted:sum()
  local negative = -sum
  return options.reduction == "sum" and negative or negative / 2.0
end

local entropy_options = { weight = true, reduction = true, label_smoothing = true, ignore_index = true }

-- Loss.cpp cross_entropy_loss: log_softmax in the input's own type, then nll_loss; the mean or the sum asks for the same.
-- options: a reduction, or { weight, reduction, label_smoothing, ignore_index }
function F.cross_entropy(input, target, options)
  local o = type(options) == "table" and options or { reduction = options }
  check_options("cross_entropy", o, entropy_options)
  if target.dtype ~= "int64" then
    return of_distribution(input, target, o)
  elseif (o.label_smoothing or 0) > 0 then
    if o.weight then
      error "F.cross_entropy: label_smoothing with a weight is not modelled"
    end
    return smoothed(input, target, o)
  end
  local log_probabilities = torch.log_softmax(input, 1, input.dtype)
  return torch.nll_loss(log_probabilities, target, o.weight, o.reduction)
end

function F.mse_loss(input, target, reduction)
  return torch.mse_loss(input, target, reduction)
end
function F.smooth_l1_loss(input, target, reduction)
  return torch.smooth_l1_loss(input, target, reduction)
end
function F.huber_loss(input, target, reduction)
  return torch.huber_loss(input, target, reduction)
end
F.l1_loss = in_float32(function(input, target, reduction)
  return reduced((input - target):abs(), reduction)
end)

F.kl_div = in_float32(function(input, target, reduction, log_target)
  local output
  local function values()
    if log_target then
      local difference = target - input
      output = target:exp() * difference
    else
      local product = target * input
      output = torch.xlogy(target, target) - product
    end
  end
  values()
  if reduction == "batchmean" then
    local batch = output.shape[1]
    output = output:sum()
    return output / (batch + 0.0)
  end
  return reduced(output, reduction)
end)

-- Distance.cpp pairwise_distance, of order 2
function F.pairwise_distance(x1, x2)
  local difference = x1 - x2
  local shifted = difference + 1e-6
  return torch.vector_norm(shifted, -1)
end

F.triplet_margin_loss = in_float32(function(anchor, positive, negative, reduction)
  local dist_pos = F.pairwise_distance(anchor, positive)
  local dist_neg = F.pairwise_distance(anchor, negative)
  local function values()
    local with_margin = 1.0 + dist_pos
    local difference = with_margin - dist_neg
    return difference:clamp { min = 0 }
  end
  local output = values()
  return reduced(output, reduction)
end)

F.margin_ranking_loss = in_float32(function(input1, input2, target, reduction)
  local function values()
    local difference = input1 - input2
    return -target * difference + 0.0
  end
  local output = values()
  output:clamp_ { min = 0 }
  return reduced(output, reduction)
end)

-- Distance.cpp cosine_similarity: norms are cloned to be limited in place
F.cosine_similarity = in_float32(function(x1, x2, dim)
  dim = dim or 1
  local x1_norm = torch.vector_norm(x1, dim, true):clone()
  local x2_norm = torch.vector_norm(x2, dim, true):clone()
  local eps = torch.scalar_tensor(x1.dtype)
  local right = x2 / x2_norm
  return ((x1 / x1_norm) * right):sum(dim)
end)

function F.normalize(input, _, dim)
  local denom = torch.vector_norm(input, dim or 1, true):clamp({ min = 1e-12 }):expand(table.unpack(input.shape))
  return input / denom
end

function F.softsign(input)
  return input / (input:abs() + 1)
end

function F.tanhshrink(input)
  return input - input:tanh()
end

function F.softmin(input, dim)
  return (-input):softmax(dim)
end

-- Repeat.cpp: a dim beside it is expanded and written out
function F.repeat_interleave(input, repeats, dim)
  if not dim then
    input, dim = input:flatten(), 0
  end
  if dim < 0 then
    dim = dim + #input.shape
  end
  local sizes = {}
  for i, size in ipairs(input.shape) do
    sizes[#sizes + 1] = size
    if i == dim + 1 then
      sizes[#sizes + 1] = repeats
    end
  end
  return input:unsqueeze(dim + 1):expand(table.unpack(sizes)):contiguous():flatten(dim, dim + 1)
end

local modes = {
  nearest = { "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d" },
  linear = { "upsample_linear1d" },
  bilinear = { nil, "upsample_bilinear2d" },
  bicubic = { nil, "upsample_bicubic2d" },
  trilinear = { nil, nil, "upsample_trilinear3d" },
  area = { "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d" },
}
modes["nearest-exact"] = modes.nearest

-- options: size or scale_factor, each a number or a table; mode
function F.interpolate(input, options)
  check_options("interpolate", options, { size = true, scale_factor = true, mode = true })
  local dims, size = #input.shape - 2, {}
  local name = (modes[options.mode or "nearest"] or {})[dims]
  if not name then
    error("F.interpolate: mode '" .. tostring(options.mode) .. "' of " .. dims .. " dims is not modelled")
  end
  local given = options.size or options.scale_factor
  for i = 1, dims do
    local value = type(given) == "table" and given[i] or given
    size[i] = options.size and value or math.floor(input.shape[i + 2] * value)
  end
  return torch[name](input, size)
end

-- Normalization.cpp instance_norm with the input's own statistics: a batch norm of one sample with all channels
function F.instance_norm(input, weight, bias)
  local shape = { 1, input.shape[1] * input.shape[2] }
  table.move(input.shape, 3, #input.shape, 3, shape)
  local weight_ = weight and weight["repeat"](weight, input.shape[1])
  local bias_ = bias and bias["repeat"](bias, input.shape[1])
  local input_reshaped = input:contiguous():view(shape)
  local out = torch.batch_norm(input_reshaped, nil, nil, weight_, bias_, true)
  return out:view(input.shape)
end

-- Dropout.cpp _dropout_impl of whole channels (dropout1d, dropout2d, dropout3d): one number a channel
function F.feature_dropout(input, p, training)
  if p == 0 or training == false then
    return input
  end
  local shape = { input.shape[1], input.shape[2] }
  for i = 3, #input.shape do
    shape[i] = 1
  end
  return input * torch.empty(shape, input.dtype)
end

-- zeros with a 1 in each row
function F.one_hot(index, classes)
  local sizes = {}
  for i, size in ipairs(index.shape) do
    sizes[i] = size
  end
  sizes[#sizes + 1] = classes
  local ret = torch.zeros(sizes, torch.int64)
  ret:scatter_(-1, index:unsqueeze(-1), 1)
  return ret
end

return F
