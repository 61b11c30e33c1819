-- nn.lua: modules as PyTorch has them. A class is made by nn.class(); its `init` is Python's __init__, its `forward` runs
-- when the module is called. Parameters and buffers belong to the module for good; everything else lives as long as a
-- name holds it.
local nn = {
  Parameter = _nn.Parameter,
  Buffer = _nn.Buffer,
  name = _nn.name,
  parameters = _nn.parameters,
  replace = _nn.replace,
  set_data = _nn.set_data,
  call = _nn._call,
}

-- nn.class() -> a class; Class(...) -> an instance after Class.init(instance, ...)
function nn.class()
  local class = {}
  local instance = { __index = class, __call = _nn._call, __newindex = _nn._newindex }
  return setmetatable(class, {
    __call = function(_, ...)
      local self = setmetatable({ _members = setmetatable({}, {}) }, instance)
      class.init(self, ...)
      return self
    end,
  })
end

-- What a flag of a layer may be; a table is Python's keyword arguments, which Lua has not.
local function check_flag(class, name, value)
  if value ~= nil and type(value) ~= "boolean" then
    error("nn." .. class .. ": " .. name .. " must be true or false, found a " .. type(value))
  end
end

local function check_options(class, options, known)
  if type(options) ~= "table" then
    error("nn." .. class .. ": options must be a table such as { padding = 1 }, found a " .. type(options))
  end
  for key in pairs(options) do
    if not known[key] then
      local names = {}
      for name in pairs(known) do
        names[#names + 1] = name
      end
      table.sort(names)
      error("nn." .. class .. ": unknown option '" .. tostring(key) .. "'; known: " .. table.concat(names, ", "))
    end
  end
end

local function check_modules(form, modules)
  if type(modules) ~= "table" then
    error("nn." .. form .. " takes modules, found a " .. type(modules))
  end
  for i = 1, #modules do
    if type(modules[i]) ~= "table" or not modules[i]._members then
      error("nn." .. form .. " takes modules, number " .. i .. " is a " .. type(modules[i]))
    end
  end
end

-- Linear: weight first, then bias; initialised in place.
nn.Linear = nn.class()
nn.Linear.is_linear = true -- for what replaces linear layers
function nn.Linear:init(in_features, out_features, bias, dtype)
  check_flag("Linear", "bias", bias)
  self.weight = nn.Parameter(torch.empty({ out_features, in_features }, dtype))
  if bias ~= false then
    self.bias = nn.Parameter(torch.empty({ out_features }, dtype))
  end
end
function nn.Linear:forward(input)
  return torch.linear(input, self.weight, self.bias)
end

nn.Embedding = nn.class()
nn.Embedding.is_embedding = true
function nn.Embedding:init(num_embeddings, embedding_dim)
  self.weight = nn.Parameter(torch.empty({ num_embeddings, embedding_dim }))
end
function nn.Embedding:forward(input)
  return torch.embedding(self.weight, input)
end
nn.LayerNorm = nn.class()
function nn.LayerNorm:init(normalized_shape, bias, elementwise_affine)
  check_flag("LayerNorm", "bias", bias)
  check_flag("LayerNorm", "elementwise_affine", elementwise_affine)
  self.normalized_shape = type(normalized_shape) == "table" and normalized_shape or { normalized_shape }
  if elementwise_affine == false then
    return
  end
  self.weight = nn.Parameter(torch.empty(self.normalized_shape))
  if bias ~= false then
    self.bias = nn.Parameter(torch.empty(self.normalized_shape))
  end
end
function nn.LayerNorm:forward(input)
  return torch.layer_norm(input, self.normalized_shape, self.weight, self.bias)
end

nn.Dropout = nn.class()
function nn.Dropout:init(p)
  self.p = p or 0.5
  self.training = true
end
function nn.Dropout:forward(input)
  return torch.dropout(input, self.p, self.training)
end

-- visit(module, its name in the module that has it) for every module, from the outside in, as Module.modules()
function nn.each_module(module, visit, name)
  visit(module, name)
  for _, key in ipairs(module._members) do
    if type(module[key]) == "table" then
      nn.each_module(module[key], visit, key)
    end
  end
end

-- module.train(mode): what dropout looks at, in all modules within
function nn.train(module, mode)
  rawset(module, "training", mode ~= false)
  for _, key in ipairs(module._members) do
    if type(module[key]) == "table" then
      nn.train(module[key], mode)
    end
  end
end

-- Module._apply: the modules within first, then the own parameters, then the own buffers.
local function apply(module, f)
  for _, key in ipairs(module._members) do
    if type(module[key]) == "table" then
      apply(module[key], f)
    end
  end
  for _, buffers in ipairs { false, true } do
    for _, key in ipairs(module._members) do
      local member = module[key]
      if type(member) ~= "table" and member.is_buffer == buffers then
        f(member, module, key)
      end
    end
  end
end

-- What make() builds is built in host memory and then moved, as Model().cuda() does.
function nn.cuda(make)
  local default = torch.set_default_device("cpu")
  local module = make()
  torch.set_default_device(default)
  apply(module, function(t, owner, key)
    if key == "weight" and owner.move_weight then -- bitsandbytes' layers quantize it
      torch.no_grad(owner.move_weight, owner)
    else
      torch.cuda_(t)
    end
  end)
  nn.name(module)
  return module
end

-- module.to(memory_format=torch.channels_last)
function nn.to_memory_format(module, memory_format)
  apply(module, function(t)
    torch.to_format_(t, memory_format)
  end)
  nn.name(module)
end

-- A number for both dims, or a table.
local function pair(value)
  return type(value) == "table" and value or { value, value }
end

-- options: stride padding dilation groups bias
nn.Conv2d = nn.class()
local conv_options = { stride = true, padding = true, dilation = true, groups = true, bias = true }
function nn.Conv2d:init(in_channels, out_channels, kernel_size, options)
  local o = options or {}
  check_options("Conv2d", o, conv_options)
  local kernel = pair(kernel_size)
  self.stride, self.padding, self.dilation = pair(o.stride or 1), pair(o.padding or 0), pair(o.dilation or 1)
  self.groups = o.groups or 1
  self.weight = nn.Parameter(torch.empty({ out_channels, in_channels // self.groups, kernel[1], kernel[2] }))
  if o.bias ~= false then
    self.bias = nn.Parameter(torch.empty({ out_channels }))
  end
end
function nn.Conv2d:forward(input)
  return torch.conv2d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)
end

-- options: stride padding dilation groups bias
nn.Conv1d = nn.class()
function nn.Conv1d:init(in_channels, out_channels, kernel_size, options)
  local o = options or {}
  check_options("Conv1d", o, conv_options)
  self.stride, self.padding, self.dilation = { o.stride or 1 }, { o.padding or 0 }, { o.dilation or 1 }
  self.groups = o.groups or 1
  self.weight = nn.Parameter(torch.empty({ out_channels, in_channels // self.groups, kernel_size }))
  if o.bias ~= false then
    self.bias = nn.Parameter(torch.empty({ out_channels }))
  end
end
function nn.Conv1d:forward(input)
  return torch.conv1d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)
end

nn.BatchNorm2d = nn.class()
function nn.BatchNorm2d:init(num_features)
  self.training = true
  self.weight = nn.Parameter(torch.ones({ num_features }))
  self.bias = nn.Parameter(torch.zeros({ num_features }))
  self.running_mean = nn.Buffer(torch.zeros({ num_features }))
  self.running_var = nn.Buffer(torch.ones({ num_features }))
  self.num_batches_tracked = nn.Buffer(torch.zeros({}, torch.int64))
end
function nn.BatchNorm2d:forward(input)
  if self.training then
    self.num_batches_tracked:add_(1)
  end
  return torch.batch_norm(input, self.running_mean, self.running_var, self.weight, self.bias, self.training)
end

nn.GroupNorm = nn.class()
function nn.GroupNorm:init(num_groups, num_channels)
  self.num_groups = num_groups
  self.weight = nn.Parameter(torch.ones({ num_channels }))
  self.bias = nn.Parameter(torch.zeros({ num_channels }))
end
function nn.GroupNorm:forward(input)
  return torch.group_norm(input, self.num_groups, self.weight, self.bias)
end

nn.MaxPool2d = nn.class()
function nn.MaxPool2d:init(kernel_size, stride, padding)
  self.kernel_size, self.stride, self.padding = pair(kernel_size), pair(stride or kernel_size), pair(padding or 0)
end
function nn.MaxPool2d:forward(input)
  return torch.max_pool2d(input, self.kernel_size, self.stride, self.padding)
end

nn.AdaptiveAvgPool2d = nn.class()
function nn.AdaptiveAvgPool2d:init(output_size)
  self.output_size = pair(output_size)
end
function nn.AdaptiveAvgPool2d:forward(input)
  return torch.adaptive_avg_pool2d(input, self.output_size)
end

local function activation(name)
  local class = nn.class()
  function class:init() end
  function class:forward(input)
    return torch[name](input)
  end
  return class
end
nn.ReLU, nn.SiLU, nn.GELU, nn.Tanh, nn.Sigmoid =
  activation("relu"), activation("silu"), activation("gelu"), activation("tanh"), activation("sigmoid")

-- ReLU(inplace=True), ReLU6(inplace=True)
nn.ReLUInPlace, nn.ReLU6InPlace = activation("relu_"), activation("hardtanh_")

-- Indexed from 0, as in Python: list[0] ... list[list.length - 1]
nn.ModuleList = nn.class()
nn.ModuleList.is_module_list = true
function nn.ModuleList:init(modules)
  check_modules("ModuleList { a, b, ... }", modules)
  self.length = #modules
  for i, module in ipairs(modules) do
    self[i - 1] = module
  end
end

nn.Sequential = nn.class()
function nn.Sequential:init(...)
  local modules = { ... }
  check_modules("Sequential(a, b, ...)", modules)
  self.length = #modules
  for i, module in ipairs(modules) do
    self[i - 1] = module
  end
end
function nn.Sequential:forward(input)
  for i = 0, self.length - 1 do
    input = self[i](input)
  end
  return input
end

use "nn_layers"(nn)

return nn
