-- nn.lua: modules as PyTorch has them. A class is made by nn.class(); its `init` is Python's __init__, its `forward` runs
-- when the module is called. Parameters and buffers belong to the module for good; everything else lives as long as a
-- name holds it.
local nn = { Parameter = _nn.Parameter, Buffer = _nn.Buffer, name = _nn.name, replace = _nn.replace }

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

local function collect(module, list, seen)
  for _, key in ipairs(module._members) do
    local member = module[key]
    if type(member) == "table" then
      collect(member, list, seen)
    elseif member.requires_grad and not seen[member] then
      seen[member] = true
      list:append(member)
    end
  end
end

-- All parameters once, in the order in which PyTorch's parameters() gives them.
function nn.parameters(module)
  local list = torch.list()
  collect(module, list, setmetatable({}, {}))
  return list
end

-- Linear: weight first, then bias; initialised in place.
nn.Linear = nn.class()
function nn.Linear:init(in_features, out_features, bias, dtype)
  self.weight = nn.Parameter(torch.empty({ out_features, in_features }, dtype))
  if bias ~= false then
    self.bias = nn.Parameter(torch.empty({ out_features }, dtype))
  end
end
function nn.Linear:forward(input)
  return torch.linear(input, self.weight, self.bias)
end

nn.Embedding = nn.class()
function nn.Embedding:init(num_embeddings, embedding_dim)
  self.weight = nn.Parameter(torch.empty({ num_embeddings, embedding_dim }))
end
function nn.Embedding:forward(input)
  return torch.embedding(self.weight, input)
end
nn.LayerNorm = nn.class()
function nn.LayerNorm:init(normalized_shape, bias)
  self.normalized_shape = type(normalized_shape) == "table" and normalized_shape or { normalized_shape }
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

-- module.train(mode): what dropout looks at, in all modules within
function nn.train(module, mode)
  rawset(module, "training", mode ~= false)
  for _, key in ipairs(module._members) do
    if type(module[key]) == "table" then
      nn.train(module[key], mode)
    end
  end
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

-- Indexed from 0, as in Python: list[0] ... list[list.length - 1]
nn.ModuleList = nn.class()
function nn.ModuleList:init(modules)
  self.length = #modules
  for i, module in ipairs(modules) do
    self[i - 1] = module
  end
end

nn.Sequential = nn.class()
function nn.Sequential:init(...)
  local modules = { ... }
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

return nn
