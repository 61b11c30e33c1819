-- optim_base.lua: what all optimizers of torch.optim share: parameters, states, zero_grad, a step without gradients.
local base = {}

local function zero_grad(self, set_to_none)
  if set_to_none ~= false then
    torch.clear_grads(self.params)
    return
  end
  for i = 1, #self.params do
    local p = self.params[i]
    if p.grad then
      p.grad:fill_()
    end
  end
end

-- A state tensor of parameter i; it belongs to the optimizer to the end of the run.
function base.set_state(self, i, name, tensor)
  self.state[i][name] = torch.hold(tensor, "optimizer_state", name, self.params[i])
end

-- "'word' is no KIND; known are: a, b"
function base.check_word(kind, word, known)
  for i = 1, #known do
    if known[i] == word then
      return
    end
  end
  error(string.format("'%s' is no %s; known are: %s", tostring(word), kind, table.concat(known, ", ")))
end

local impls = { "forloop", "foreach", "fused" }

-- step(optimizer) runs without recording. options.impl: the form of the step; as PyTorch on a GPU, foreach unless told.
function base.new(params, options, step)
  if type(params) == "table" and #params == 0 then
    error("an optimizer wants a list of parameters: nn.parameters(model)")
  end
  if #params == 0 then
    error("optimizer got an empty parameter list: the model has no parameter that requires a gradient")
  end
  options.impl = options.impl or "foreach"
  base.check_word("form of an optimizer", options.impl, impls)
  local self = {
    params = torch.keep(params),
    options = options,
    step = function(self)
      torch.no_grad(step, self)
    end,
    zero_grad = zero_grad,
    state = setmetatable({}, {}),
    initialized = 0, -- parameters whose states are made
  }
  for i = 1, #params do
    self.state[i] = setmetatable({}, {})
  end
  return setmetatable(self, {})
end

-- Defaults with what the caller wants otherwise.
function base.options(defaults, wanted)
  for key, value in pairs(wanted or {}) do
    defaults[key] = value
  end
  return defaults
end

-- The states of parameters that have a gradient for the first time.
local function make_states(self, make)
  for i = 1, #self.params do
    local p = self.params[i]
    if p.grad and not self.state[i].initialized then
      self.state[i].initialized = true
      self.initialized = self.initialized + 1
      make(self, i, p)
    end
  end
end

-- _init_group: the parameters that have gradients and lists of their states. make(self, i, p) makes the states at the
-- first step that finds a gradient. Returns params, grads and a list for every name.
function base.init_group(self, names, make)
  local params_with_grad = torch.with_grad(self.params)
  local grads = torch.with_grad(self.params, "grad")
  if self.initialized < #self.params then
    make_states(self, make)
  end
  local lists = {}
  for k = 1, #names do
    lists[k] = torch.with_grad(self.params, self.state, names[k])
  end
  return params_with_grad, grads, table.unpack(lists)
end

-- _group_tensors_by_device_and_dtype: the lists parted by the type of the first one's tensors; lists that are empty stay
-- so. The groups come out of a C++ hash map: the type that was met last comes first.
function base.groups(first, ...)
  if torch.is_one_dtype(first) then
    return #first > 0 and { { first, ... } } or {}
  end
  local lists, order, groups = { first, ... }, {}, {}
  for i = 1, #first do
    local dtype = first[i].dtype
    if not groups[dtype] then
      groups[dtype] = {}
      for k = 1, #lists do
        groups[dtype][k] = torch.list()
      end
      table.insert(order, 1, groups[dtype])
    end
    for k = 1, #lists do
      if #lists[k] > 0 then
        groups[dtype][k]:append(lists[k][i])
      end
    end
  end
  return order
end

return base
