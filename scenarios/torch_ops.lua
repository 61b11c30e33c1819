-- torch_ops.lua: single ops forward and backward, in groups, to compare with recordings.
local F = use "functional"

local p = parameters {
  { "group", "activations", "which ops", one_of = { "activations", "math", "reductions", "losses", "indexing", "images" } },
}

local function leaf(shape, dtype)
  local t = torch.empty(shape, dtype or "fp32")
  t.requires_grad = true
  return t
end

-- f(leaves).sum().backward()
local function run(f, shapes, dtype)
  local x = {}
  for i = 1, #shapes do
    x[i] = leaf(shapes[i], dtype)
  end
  local y = f(table.unpack(x))
  local l = y:sum()
  l:backward()
end

local function in_place(f, shape)
  local x = leaf(shape)
  local y = x * 2.0
  f(y)
  local l = y:sum()
  l:backward()
end

local function names(list, shapes, dtype)
  for _, name in ipairs(list) do
    run(torch[name], shapes, dtype)
  end
end

local groups = {}

function groups.activations()
  local S = { 37, 129 }
  local plain = { "leaky_relu", "elu", "selu", "celu", "softplus", "hardswish", "hardsigmoid", "mish", "logsigmoid", "hardtanh",
    "hardshrink", "softshrink", "gelu", "silu", "relu", "tanh", "sigmoid" }
  names(plain, { S })
  names({ "leaky_relu", "elu", "hardswish", "mish", "logsigmoid" }, { S }, "bf16")
  run(torch.glu, { { 37, 128 } })
  run(function(x) return torch.glu(x, 1) end, { { 5, 36, 7 } })
  run(F.softsign, { S })
  run(F.tanhshrink, { S })
  run(function(x) return F.softmin(x, -1) end, { S })
  run(torch.prelu, { { 5, 12, 9 }, { 12 } })
  run(torch.prelu, { { 5, 12, 9 }, { 1 } })
  for _, name in ipairs { "leaky_relu_", "elu_", "silu_", "mish_", "hardswish_", "hardsigmoid_", "sigmoid_", "tanh_", "exp_", "neg_",
    "relu_" } do
    in_place(torch[name], S)
  end
  in_place(function(y) return y:clamp_(-1, 1) end, S)
  in_place(function(y) return y:clamp_ { min = 0.1 } end, S)
  in_place(function(y) return y:masked_fill_(torch.empty(S, "bool"), 0.0) end, S)
end

function groups.math()
  local S = { 41, 130 }
  local plain = { "erf", "log1p", "log2", "log10", "expm1", "sign", "floor", "round", "square", "sin", "cos", "tan", "sinh", "cosh",
    "atan", "asin", "acos", "frac", "trunc", "ceil", "logit", "nan_to_num", "exp", "log", "sqrt", "abs", "rsqrt", "reciprocal", "neg" }
  names(plain, { S })
  names({ "erf", "log1p", "square", "tan", "acos" }, { S }, "bf16")
  for _, exponent in ipairs { 2, 3, 0.5, -1, 1.5 } do
    run(function(x) return x ^ exponent end, { S })
  end
  run(function(x) return x:clamp(-1, 1) end, { S })
  run(function(x) return x:clamp { min = 0 } end, { S })
  run(function(x) return x:clamp { max = 1.0 } end, { S })
  run(torch.minimum, { S, S })
  run(torch.maximum, { S, { 130 } })
  run(torch.logaddexp, { S, S })
  run(function(x) return x:fmod(2.0) end, { S })
  run(function(x) return x:remainder(2.0) end, { S })
  run(function(a, b) return torch.lerp(a, b, 0.3) end, { S, S })
  run(torch.lerp, { S, S, S })
  run(function(a, b, c) return torch.addcmul(a, b, c, 0.5) end, { S, S, S })
  run(torch.addcdiv, { S, S, S })
  run(function(a, b) return torch.add(a, b, 0.5) end, { S, S })
  run(function(a, b) return torch.sub(a, b, 2) end, { S, S })
  run(function(a) return 1.0 / a end, { S })
  run(function(a) return 1.0 - a end, { S })
  run(function(a) return a / 3.0 end, { S })
  run(function(a, b) return torch.where(a:gt(0), a, b) end, { S, S })
  run(function(a) return torch.where(a:gt(0), a, 0.0) end, { S })
  run(function(a) return torch.where(a:gt(0), 1.0, a) end, { S })
  run(function(a) return a * a end, { S })
  run(function(a) return a:masked_fill(a:lt(0), -1.0) end, { S })
  local a = torch.empty(S)
  local b = torch.empty(S)
  local c = torch.logical_and(a:gt(0), b:gt(0))
  local d = c:bitwise_not()
  local e = torch.logical_or(c, d)
  local f = torch.isnan(a)
  local g = torch.isinf(a)
  local h = torch.isfinite(a)
  local i = a:ne(b)
  local j = torch.logical_not(a)
  local k = c:bitwise_and(d)
  local o = a:gt(0) * b
end

function groups.reductions()
  local S = { 6, 41, 130 }
  for _, name in ipairs { "var", "std", "amax", "amin", "mean", "sum", "vector_norm" } do
    local f = torch[name]
    run(f, { S })
    run(function(x) return f(x, -1) end, { S })
    run(function(x) return f(x, { 0, 2 }, true) end, { S })
  end
  run(function(x) return x:logsumexp(-1) end, { S })
  run(function(x) return x:logsumexp({ 0, 2 }, true) end, { S })
  run(torch.var, { { 512, 4096 } })
  run(function(x) return x:var(-1) end, { S }, "bf16")
  run(function(x) return x:std(0) end, { { 8192, 64 } })
  run(function(x) return x:logsumexp(-1) end, { S }, "bf16")
  run(function(x) return x:vector_norm(-1) end, { S }, "bf16")
  run(torch.max, { S })
  run(torch.min, { S })
  run(function(x) return x:cumsum(-1) end, { S })
  run(function(x) return x:cumsum(0) end, { S })
  run(function(x) return x:cumsum(0) end, { { 5000 } })
  run(function(x)
    local values, indices = x:sort(-1)
    return values
  end, { S })
  run(function(x)
    local values, indices = x:sort(0)
    return values
  end, { { 50, 60 } })
  run(function(x)
    local values, indices = x:topk(5)
    return values
  end, { S })
  run(function(x) return x:softmax(1) end, { S })
  run(function(x) return x:log_softmax(1) end, { S })
  run(function(x) return x:mean { dim = { 0, 1 } } end, { S })
  run(function(x) return x:sum(1, 2) end, { S })
  run(function(x) return x * x:gt(0):sum(-1, true) end, { S })
  local a = torch.empty(S)
  local b = a:argmin(-1)
  local c = a:argmax()
  local m = a:gt(0):sum(-1)
  local o = a:gt(0):float():mean()
  local q = a:std():item()
end

local function losses(dtype)
  local S = { 37, 129 }
  for _, name in ipairs { "l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss" } do
    for _, reduction in ipairs { "mean", "sum", "none" } do
      local function step()
        local x, y = leaf(S, dtype), torch.empty(S, dtype)
        local l = F[name](x, y, reduction)
        if reduction == "none" then
          l = l:sum()
        end
        l:backward()
      end
      step()
    end
  end
  local function pair(f)
    local x, y = leaf(S, dtype), torch.empty(S, dtype)
    local l = f(x, y)
    l:backward()
  end
  local function binary()
    local x, y = leaf(S, dtype), torch.empty(S, dtype)
    local p_ = x:sigmoid()
    local l = torch.binary_cross_entropy(p_, y)
    l:backward()
  end
  binary()
  pair(torch.binary_cross_entropy_with_logits)
  local function with_pos_weight()
    local x, y = leaf(S, dtype), torch.empty(S, dtype)
    local w = torch.empty({ 129 }, dtype)
    local l = torch.binary_cross_entropy_with_logits(x, y, { pos_weight = w })
    l:backward()
  end
  with_pos_weight()
  local function with_weight()
    local x, y = leaf(S, dtype), torch.empty(S, dtype)
    local w = torch.empty(S, dtype)
    local l = torch.binary_cross_entropy_with_logits(x, y, w, { reduction = "sum" })
    l:backward()
  end
  with_weight()
  pair(function(x, y) return F.kl_div(x:log_softmax(-1), y:softmax(-1), "batchmean") end)
  pair(function(x, y) return F.kl_div(x, y, "mean") end)
  pair(function(x, y) return F.kl_div(x, y, "batchmean", true) end)
  local function classes(f, shape, target)
    local x, y = leaf(shape or S, dtype), torch.zeros(target or { 37 }, torch.int64)
    local l = f(x, y)
    l:backward()
  end
  classes(F.cross_entropy)
  classes(function(x, y) return F.cross_entropy(x, y, "sum") end)
  classes(function(x, y) return F.cross_entropy(x, y, "none"):mean() end)
  classes(function(x, y) return F.cross_entropy(x, y, { label_smoothing = 0.1 }) end)
  classes(function(x, y) return F.cross_entropy(x, y, { label_smoothing = 0.1, reduction = "none" }):mean() end)
  local function weighted()
    local x, y = leaf(S, dtype), torch.zeros({ 37 }, torch.int64)
    local w = torch.empty({ 129 }, dtype)
    local l = F.cross_entropy(x, y, { weight = w })
    l:backward()
  end
  weighted()
  local function soft(options)
    local x, y = leaf(S, dtype), torch.zeros({ 37 }, torch.int64)
    local q = torch.empty(S, dtype)
    local l = F.cross_entropy(x, q, options)
    l:backward()
  end
  soft()
  classes(F.cross_entropy, { 4, 11, 29 }, { 4, 29 })
  classes(F.cross_entropy, { 4, 11, 9, 13 }, { 4, 9, 13 })
  classes(function(x, y) return F.cross_entropy(x, y, "none"):mean() end, { 4, 11, 9, 13 }, { 4, 9, 13 })
end

function groups.losses()
  losses("fp32")
  losses("bf16")
  local S = { 37, 129 }
  local function three(f)
    local a, b, c = leaf(S), leaf(S), leaf(S)
    local y = torch.empty({ 37 })
    local l = f(a, b, c, y)
    l:backward()
  end
  three(function(a, b, c) return F.triplet_margin_loss(a, b, c) end)
  three(function(a, b, c, y) return F.margin_ranking_loss(a:sum(1), b:sum(1), y) end)
  three(function(a, b) return F.cosine_similarity(a, b):sum() end)
  three(function(a, b) return F.pairwise_distance(a, b):sum() end)
  three(function(a) return F.normalize(a, 2.0, -1):sum() end)
end

local function indexing(dtype)
  local S = { 50, 33 }
  local index = torch.zeros({ 20 }, torch.int64)
  local whole = torch.zeros(S, torch.int64)
  local function with(f, ...)
    run(f, { S, ... }, dtype)
  end
  with(function(x) return x:index_select(0, index) end)
  with(function(x) return torch.index_select(x, 1, index) end)
  with(function(x) return x:gather(1, whole) end)
  with(function(x, s) return x:scatter_add(0, whole, s) end, S)
  with(function(x, s) return x:scatter(0, whole, s) end, S)
  with(function(x) return x:scatter(1, whole, 1.0) end)
  with(function(x, s) return x:index_add(0, index, s) end, { 20, 33 })
  with(function(x) return x:index_fill(0, index, 0.0) end)
  with(function(x, s) return x:index_copy(0, index, s) end, { 20, 33 })
  with(function(x) return x:index(index) end)
  with(function(x) return x:index_pairs(index, index) end)
  with(function(x) return x:index(index, 1) end)
  with(function(x) return x:slice(0, 3, 9):slice(1, nil, nil, 2) end)
  with(function(x) return x:unsqueeze(1):select(2, 0) end)
end

function groups.indexing()
  indexing("fp32")
  indexing("bf16")
  local S = { 50, 33 }
  run(function(x) return x:flip(-1) end, { S })
  run(function(x) return x:roll(3, 1) end, { S })
  run(function(x) return F.repeat_interleave(x, 3, 1) end, { S })
  run(function(x) return F.repeat_interleave(x, 3) end, { S })
  run(function(x) return x["repeat"](x, 2, 3) end, { S })
  run(function(x) return x:unsqueeze(1):expand(-1, 4, -1) end, { S })
  run(function(x) return x:tril() end, { S })
  run(function(x) return x:transpose(0, 1):flatten() end, { S })
  run(function(x) return x:view(-1, 3):t():reshape(-1) end, { S })
  run(function(x) return x:unsqueeze(1):squeeze(1) end, { S })
  run(function(x) return x:transpose(0, 1) * 2 end, { S })
  run(function(a, b) return torch.stack({ a, b }, 1) end, { S, S })
  run(function(a, b) return torch.cat({ a, b }, -1) end, { S, S })
  run(function(a, v) return torch.matmul(a, v) end, { S, { 33 } })
  run(function(a, v) return torch.matmul(a, v) end, { { 4, 50, 33 }, { 33 } })
  run(function(v, a) return torch.matmul(v, a) end, { { 50 }, S })
  run(function(a, b) return torch.matmul(a, b) end, { { 50 }, { 50 } })
  run(function(a, b) return torch.matmul(a, b) end, { { 2, 3, 50, 33 }, { 2, 3, 33, 20 } })
  run(function(x) return x:clone() end, { S })
end

function groups.images()
  local X, L, V = { 3, 8, 17, 19 }, { 3, 8, 33 }, { 2, 4, 6, 8, 10 }
  run(function(x) return x:max_pool1d({ 3 }, { 2 }, { 1 }) end, { L })
  run(function(x) return x:avg_pool1d({ 3 }, { 2 }, { 1 }) end, { L })
  run(function(x) return x:adaptive_avg_pool1d(5) end, { L })
  run(function(x) return x:adaptive_avg_pool1d(1) end, { L })
  run(function(x) return x:adaptive_max_pool1d(5) end, { L })
  run(function(x) return x:max_pool3d(2) end, { V })
  run(function(x) return x:avg_pool3d(2) end, { V })
  run(function(x) return x:adaptive_avg_pool3d(2) end, { V })
  run(function(x) return x:adaptive_avg_pool3d(1) end, { V })
  run(function(x) return x:adaptive_max_pool2d(4) end, { X })
  run(function(x) return x:adaptive_avg_pool2d(1) end, { X })
  run(function(x) return x:adaptive_avg_pool2d { output_size = { 3, 5 } } end, { X })
  run(function(x) return x:avg_pool2d(2) end, { X })
  run(function(x) return x:max_pool2d({ 3 }, { 2 }, { ceil_mode = true }) end, { X })
  run(function(x, w, b) return torch.conv_transpose1d(x, w, b, { 2 }, { 1 }) end, { L, { 8, 6, 4 }, { 6 } })
  run(function(x, w, b) return torch.conv1d(x, w, b, { 1 }, { 1 }) end, { L, { 6, 8, 3 }, { 6 } })
  run(function(x, w) return torch.conv_transpose2d(x, w, nil, { 2 }, { 1 }, { output_padding = { 1 } }) end, { X, { 8, 6, 3, 3 } })
  run(function(x, w) return torch.conv_transpose3d(x, w, nil, { 2 }) end, { V, { 4, 3, 2, 2, 2 } })
  run(function(x, w) return torch.conv2d(x, w, nil, { 1 }, { 1 }, { 1 }, 8) end, { X, { 8, 1, 3, 3 } })
  run(function(x, w, b) return torch.conv3d(x, w, b, { 1 }, { 1 }) end, { V, { 3, 4, 3, 3, 3 }, { 3 } })
  run(function(x, w) return torch.conv2d(x, w, nil, { 1 }, { 2 }, { 2 }) end, { X, { 6, 8, 3, 3 } })
  for _, mode in ipairs { "nearest", "bilinear", "bicubic", "area", "nearest-exact" } do
    run(function(x) return F.interpolate(x, { scale_factor = 2, mode = mode }) end, { X })
    run(function(x) return F.interpolate(x, { size = { 30, 20 }, mode = mode }) end, { X }, "bf16")
  end
  run(function(x) return F.interpolate(x, { scale_factor = 2, mode = "linear" }) end, { L })
  run(function(x) return F.interpolate(x, { scale_factor = 2 }) end, { L })
  run(function(x) return F.interpolate(x, { scale_factor = 2, mode = "trilinear" }) end, { V })
  run(function(x) return F.interpolate(x, { scale_factor = 2 }) end, { V })
  run(function(x) return x:pixel_shuffle(2) end, { X })
  run(function(x) return x:pixel_unshuffle(2) end, { { 3, 4, 16, 18 } })
  run(torch.grid_sample, { X, { 3, 10, 11, 2 } })
  run(torch.grid_sample, { V, { 2, 3, 4, 5, 3 } })
  run(function(x) return x:reflection_pad(2, 1, 2, 1) end, { X })
  run(function(x) return x:replication_pad(2, 1, 2, 1) end, { X })
  run(function(x) return x:pad(2, 1, 2, 1) end, { X })
  run(function(x) return x:reflection_pad(2, 1) end, { L })
  run(function(x) return x:pad(0, 0, 1, 1) end, { X })
  run(function(x) return x:pad(-1, -1) end, { X })
  run(function(x) return F.feature_dropout(x, 0.3) end, { X })
  run(function(x) return F.feature_dropout(x, 0.3) end, { L })
  run(F.instance_norm, { X })
  run(F.instance_norm, { X, { 8 }, { 8 } })
  run(F.instance_norm, { L })
  run(F.instance_norm, { X, { 8 }, { 8 } }, "bf16")
  for _, dtype in ipairs { "fp32", "bf16" } do
    run(function(x, w) return torch.rms_norm(x, { 64 }, w) end, { { 50, 64 }, { 64 } }, dtype)
    run(function(x) return torch.rms_norm(x, { 64 }) end, { { 50, 64 } }, dtype)
    run(function(x, w) return torch.rms_norm(x, { 64 }, w) end, { { 4, 50, 64 }, { 64 } }, dtype)
  end
  local function batch_norm(x, w, b)
    local m = torch.empty { 8 }
    local v = torch.empty { 8 }
    return torch.batch_norm(x, m, v, w, b, true)
  end
  run(batch_norm, { { 30, 8 }, { 8 }, { 8 } })
  run(batch_norm, { L, { 8 }, { 8 } })
  run(batch_norm, { { 2, 8, 4, 5, 6 }, { 8 }, { 8 } })
  run(function(x) return torch.batch_norm(x, nil, nil, nil, nil, true) end, { X })
  run(function(x) return torch.layer_norm(x, { 64 }) end, { { 50, 64 } })
  run(function(x, w, b) return torch.layer_norm(x, { 8, 19 }, w, b) end, { { 5, 8, 19 }, { 8, 19 }, { 8, 19 } })
  run(function(x, w, b) return torch.group_norm(x, 2, w, b) end, { L, { 8 }, { 8 } })
  run(function(x, w, b) return torch.group_norm(x, 2, w, b) end, { { 2, 8, 4, 5, 6 }, { 8 }, { 8 } })
  run(function(x) return torch.group_norm(x, 2) end, { X })
  run(function(x, w, b) return torch.group_norm(x, 2, w, b) end, { { 30, 8 }, { 8 }, { 8 } })
  local function rope(x)
    local f = torch.polar(torch.ones { 6, 16 }, torch.zeros { 6, 16 })
    local z = torch.view_as_complex(x:float():reshape(5, 6, 16, 2))
    return torch.view_as_real(z * f):flatten(2):to(x.dtype)
  end
  run(rope, { { 5, 6, 32 } })
  run(rope, { { 5, 6, 32 } }, "bf16")
end

if p.group == "images" then
  torch.set_cudnn_workspace "none"
end
begin_step(1)
phase "forward"
groups[p.group]()
phase()
