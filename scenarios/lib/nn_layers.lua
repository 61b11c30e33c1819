-- nn_layers.lua: layers of torch.nn beyond those of nn.lua, which adds them to itself: nn_layers(nn).
local F = use "functional"

-- A number for all dims, or a table.
local function numbers(value, dims)
  if type(value) == "table" then
    return value
  end
  local all = {}
  for i = 1, dims do
    all[i] = value
  end
  return all
end

local conv_options = { stride = true, padding = true, output_padding = true, dilation = true, groups = true, bias = true }

-- options: stride padding output_padding dilation groups bias
local function conv(nn, name, dims, transposed)
  local class, op = nn.class(), transposed and "conv_transpose" .. dims .. "d" or "conv" .. dims .. "d"
  function class:init(in_channels, out_channels, kernel_size, options)
    local o = options or {}
    for key in pairs(o) do
      if not conv_options[key] then
        error("nn." .. name .. ": unknown option '" .. tostring(key) .. "'")
      end
    end
    self.stride, self.padding = numbers(o.stride or 1, dims), numbers(o.padding or 0, dims)
    self.output_padding, self.dilation = numbers(o.output_padding or 0, dims), numbers(o.dilation or 1, dims)
    self.groups = o.groups or 1
    local shape = transposed and { in_channels, out_channels // self.groups } or { out_channels, in_channels // self.groups }
    table.move(numbers(kernel_size, dims), 1, dims, 3, shape)
    self.weight = nn.Parameter(torch.empty(shape))
    if o.bias ~= false then
      self.bias = nn.Parameter(torch.empty({ out_channels }))
    end
  end
  function class:forward(input)
    if transposed then
      return torch[op](input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups, self.output_padding)
    end
    return torch[op](input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)
  end
  nn[name] = class
end

-- A layer without weights: call(input, what the constructor was given ...)
local function plain(nn, name, call)
  local class = nn.class()
  function class:init(...)
    rawset(self, "arguments", setmetatable(table.pack(...), {}))
    self.training = true
  end
  function class:forward(input)
    return call(input, self.training, table.unpack(self.arguments, 1, self.arguments.n))
  end
  nn[name] = class
end

local function add_pools(nn)
  for dims = 1, 3 do
    for _, kind in ipairs { "max_pool", "avg_pool" } do
      local name = (kind == "max_pool" and "MaxPool" or "AvgPool") .. dims .. "d"
      if not nn[name] then
        plain(nn, name, function(input, _, kernel_size, stride, padding)
          return torch[kind .. dims .. "d"](input, numbers(kernel_size, dims), numbers(stride or kernel_size, dims),
            numbers(padding or 0, dims))
        end)
      end
    end
    for _, kind in ipairs { "adaptive_max_pool", "adaptive_avg_pool" } do
      local name = (kind == "adaptive_max_pool" and "AdaptiveMaxPool" or "AdaptiveAvgPool") .. dims .. "d"
      if not nn[name] and not (kind == "adaptive_max_pool" and dims == 3) then
        plain(nn, name, function(input, _, output_size)
          return torch[kind .. dims .. "d"](input, numbers(output_size, dims))
        end)
      end
    end
  end
end

local function add_activations(nn)
  local names = {
    ELU = "elu", SELU = "selu", CELU = "celu", Softplus = "softplus", Hardswish = "hardswish", Hardsigmoid = "hardsigmoid",
    Mish = "mish", LogSigmoid = "logsigmoid", Hardtanh = "hardtanh", ReLU6 = "hardtanh", Hardshrink = "hardshrink",
    Softshrink = "softshrink",
  }
  for name, op in pairs(names) do
    plain(nn, name, function(input)
      return torch[op](input)
    end)
  end
  -- LeakyReLU(negative_slope, inplace)
  plain(nn, "LeakyReLU", function(input, _, _, inplace)
    return inplace and torch.leaky_relu_(input) or torch.leaky_relu(input)
  end)
  plain(nn, "Softsign", function(input)
    return F.softsign(input)
  end)
  plain(nn, "GLU", function(input, _, dim)
    return torch.glu(input, dim or -1)
  end)
  plain(nn, "Softmax", function(input, _, dim)
    return torch.softmax(input, dim)
  end)
  plain(nn, "LogSoftmax", function(input, _, dim)
    return torch.log_softmax(input, dim)
  end)
  nn.PReLU = nn.class()
  function nn.PReLU:init(num_parameters)
    self.weight = nn.Parameter(torch.full({ num_parameters or 1 }, 0.25))
  end
  function nn.PReLU:forward(input)
    return torch.prelu(input, self.weight)
  end
end

local function add_norms(nn)
  nn.BatchNorm1d, nn.BatchNorm3d = nn.BatchNorm2d, nn.BatchNorm2d -- of any images
  local InstanceNorm = nn.class()
  function InstanceNorm:init(num_features, affine)
    if affine then
      self.weight = nn.Parameter(torch.ones({ num_features }))
      self.bias = nn.Parameter(torch.zeros({ num_features }))
    end
  end
  function InstanceNorm:forward(input)
    return F.instance_norm(input, self.weight, self.bias)
  end
  nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d = InstanceNorm, InstanceNorm, InstanceNorm
  nn.RMSNorm = nn.class()
  function nn.RMSNorm:init(normalized_shape, elementwise_affine)
    self.normalized_shape = type(normalized_shape) == "table" and normalized_shape or { normalized_shape }
    if elementwise_affine ~= false then
      self.weight = nn.Parameter(torch.ones(self.normalized_shape))
    end
  end
  function nn.RMSNorm:forward(input)
    return torch.rms_norm(input, self.normalized_shape, self.weight)
  end
end

return function(nn)
  conv(nn, "Conv3d", 3, false)
  for dims = 1, 3 do
    conv(nn, "ConvTranspose" .. dims .. "d", dims, true)
  end
  add_pools(nn)
  add_activations(nn)
  add_norms(nn)
  plain(nn, "Identity", function(input)
    return input
  end)
  plain(nn, "Flatten", function(input, _, start_dim, end_dim)
    return input:flatten(start_dim or 1, end_dim or -1)
  end)
  plain(nn, "Unflatten", function(input, _, dim, sizes)
    return input:unflatten(dim, sizes)
  end)
  plain(nn, "Upsample", function(input, _, options)
    return F.interpolate(input, options)
  end)
  plain(nn, "PixelShuffle", function(input, _, factor)
    return input:pixel_shuffle(factor)
  end)
  plain(nn, "PixelUnshuffle", function(input, _, factor)
    return input:pixel_unshuffle(factor)
  end)
  for dims = 1, 3 do
    plain(nn, "Dropout" .. dims .. "d", function(input, training, p)
      return F.feature_dropout(input, p or 0.5, training)
    end)
  end
end
