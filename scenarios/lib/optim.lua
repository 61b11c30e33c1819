-- optim.lua: torch.optim. Each optimizer in the forms it has: forloop (one op a tensor), foreach (one op a list; what
-- PyTorch chooses on a GPU), fused (one kernel for everything). States belong to the optimizer from the first step that
-- finds a gradient. The rarer ones are in optim_more.lua, those of other packages in optim_packages.lua and bitsandbytes.lua.
local base = use "optim_base"
local optim = {}

-- An optimizer of another file, which is loaded when one is made.
local function of(file, class)
  return function(params, options)
    return use(file)[class](params, options)
  end
end
for _, class in ipairs { "Adagrad", "NAdam", "RMSprop", "Adafactor", "Muon" } do
  optim[class] = of("optim_more", class)
end

-- ---- Adam, AdamW (torch/optim/adam.py) ----

local function init_adam_state(self, i, p)
  if self.options.impl == "fused" then
    base.set_state(self, i, "step", torch.zeros({}, torch.float32))
  end
  base.set_state(self, i, "exp_avg", torch.zeros_like(p))
  base.set_state(self, i, "exp_avg_sq", torch.zeros_like(p))
  if self.options.amsgrad then
    base.set_state(self, i, "max_exp_avg_sq", torch.zeros_like(p))
  end
end

local function single_tensor_adam(self, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs)
  local o = self.options
  local denom -- of a parameter until the next one's is there
  for i = 1, #params do
    local param, grad, exp_avg, exp_avg_sq = params[i], grads[i], exp_avgs[i], exp_avg_sqs[i]
    if o.weight_decay ~= 0 then
      if o.decoupled then
        param:mul_(1 - o.lr * o.weight_decay)
      else
        grad = grad + param
      end
    end
    exp_avg:lerp_(grad, 0.1)
    exp_avg_sq:mul_(0.999):addcmul_(grad, grad)
    if o.amsgrad then
      max_exp_avg_sqs[i]:maximum_(exp_avg_sq)
      denom = (max_exp_avg_sqs[i]:sqrt() / 1.0):add_(1e-8)
    else
      denom = (exp_avg_sq:sqrt() / 1.0):add_(1e-8)
    end
    param:addcdiv_(exp_avg, denom)
  end
end

-- One dtype after the other (base.groups); names of a group live until the next one's take their place.
local function multi_tensor_adam(self, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs)
  local o = self.options
  local exp_avg_sq_sqrt
  for _, group in ipairs(base.groups(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs)) do
    local device_params, device_grads, device_exp_avgs, device_exp_avg_sqs, device_max_exp_avg_sqs = table.unpack(group)
    if o.weight_decay ~= 0 then
      if o.decoupled then
        torch.foreach_mul_(device_params)
      else
        device_grads = torch.foreach_add(device_grads, device_params)
      end
    end
    torch.foreach_lerp_(device_exp_avgs, device_grads)
    torch.foreach_mul_(device_exp_avg_sqs)
    torch.foreach_addcmul_(device_exp_avg_sqs, device_grads, device_grads)
    device_grads = nil -- del device_grads
    if o.amsgrad then
      torch.foreach_maximum_(device_max_exp_avg_sqs, device_exp_avg_sqs)
      exp_avg_sq_sqrt = torch.foreach_sqrt(device_max_exp_avg_sqs)
    else
      exp_avg_sq_sqrt = torch.foreach_sqrt(device_exp_avg_sqs)
    end
    torch.foreach_div_(exp_avg_sq_sqrt)
    torch.foreach_add_(exp_avg_sq_sqrt)
    torch.foreach_addcdiv_(device_params, device_exp_avgs, exp_avg_sq_sqrt)
  end
end

local adam_states = { "exp_avg", "exp_avg_sq", "max_exp_avg_sq", "step" }
local function adam_step(self)
  local params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps =
    base.init_group(self, adam_states, init_adam_state)
  if self.options.impl == "fused" then
    torch.fused_adam_(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps)
  elseif self.options.impl == "foreach" then
    multi_tensor_adam(self, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs)
  else
    single_tensor_adam(self, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs)
  end
end

function optim.Adam(params, options)
  return base.new(params, base.options({ lr = 1e-3, weight_decay = 0, decoupled = false }, options), adam_step)
end

function optim.AdamW(params, options)
  return base.new(params, base.options({ lr = 1e-3, weight_decay = 1e-2, decoupled = true }, options), adam_step)
end

-- ---- SGD (torch/optim/sgd.py) ----

-- The first momentum buffer is a copy of the gradient; fused makes it empty instead.
local function first_momentum_buffer(self, i, grad)
  if self.options.impl == "fused" then
    base.set_state(self, i, "momentum_buffer", torch.zeros_like(grad))
  else
    base.set_state(self, i, "momentum_buffer", grad:detach():clone())
  end
  return self.state[i].momentum_buffer
end

local function single_tensor_sgd(self)
  local o = self.options
  for i = 1, #self.params do
    local param = self.params[i]
    local grad = param.grad
    if grad then
      if o.weight_decay ~= 0 then
        grad = grad + param
      end
      if o.momentum ~= 0 then
        local buf = self.state[i].momentum_buffer
        if buf then
          buf:mul_(o.momentum):add_(grad)
        else
          buf = first_momentum_buffer(self, i, grad)
        end
        if o.nesterov then
          grad = grad + buf
        else
          grad = buf
        end
      end
      param:add_(grad)
    end
  end
end

local function multi_tensor_sgd(self)
  local o = self.options
  local params, device_grads, indices = torch.list(), torch.list(), {}
  local all_states_with_momentum_buffer = true
  for i = 1, #self.params do
    local p = self.params[i]
    if p.grad then
      params:append(p)
      device_grads:append(p.grad)
      indices[#indices + 1] = i
      all_states_with_momentum_buffer = all_states_with_momentum_buffer and self.state[i].momentum_buffer
    end
  end
  if o.weight_decay ~= 0 and o.impl ~= "fused" then
    device_grads = torch.foreach_add(device_grads, params)
  end
  local bufs = torch.list()
  if o.momentum ~= 0 then
    for k = 1, #indices do
      local i = indices[k]
      bufs:append(self.state[i].momentum_buffer or first_momentum_buffer(self, i, device_grads[k]))
    end
  end
  if o.impl == "fused" then
    torch.fused_sgd_(params, device_grads, bufs)
    return
  end
  if o.momentum ~= 0 then
    if all_states_with_momentum_buffer then
      torch.foreach_mul_(bufs)
      torch.foreach_add_(bufs, device_grads)
    end
    if o.nesterov then
      torch.foreach_add_(device_grads, bufs)
    else
      device_grads = bufs
    end
  end
  torch.foreach_add_(params, device_grads)
end

local function sgd_step(self)
  if self.options.impl == "forloop" then
    single_tensor_sgd(self)
  else
    multi_tensor_sgd(self)
  end
end

function optim.SGD(params, options)
  return base.new(params, base.options({ momentum = 0, weight_decay = 0, nesterov = false }, options), sgd_step)
end

-- ---- by name ----

local makers = {
  sgd = function(params, o)
    return optim.SGD(params, o)
  end,
  momentum = function(params, o)
    o.momentum = 0.9
    return optim.SGD(params, o)
  end,
  nesterov = function(params, o)
    o.momentum, o.nesterov = 0.9, true
    return optim.SGD(params, o)
  end,
  adam = optim.Adam,
  adamw = optim.AdamW,
  amsgrad = function(params, o)
    o.amsgrad = true
    return optim.Adam(params, o)
  end,
  adagrad = optim.Adagrad,
  nadam = optim.NAdam,
  rmsprop = optim.RMSprop,
  rmsprop_centered = function(params, o)
    o.centered, o.momentum = true, 0.9
    return optim.RMSprop(params, o)
  end,
  adafactor = optim.Adafactor,
  muon = optim.Muon,
  adamw8bit = function(params, o)
    o.optim_bits = 8
    return use("bitsandbytes").AdamW(params, o)
  end,
  paged_adamw8bit = function(params, o)
    o.optim_bits, o.is_paged = 8, true
    return use("bitsandbytes").AdamW(params, o)
  end,
  paged_adamw32bit = function(params, o)
    o.optim_bits, o.is_paged = 32, true
    return use("bitsandbytes").AdamW(params, o)
  end,
  lion = of("optim_packages", "Lion"),
  adamw_schedulefree = of("optim_packages", "AdamWScheduleFree"),
  sgd_schedulefree = of("optim_packages", "SGDScheduleFree"),
}

-- The names that optim.make knows, for a scenario's one_of.
optim.names = { "sgd", "momentum", "nesterov", "adam", "adamw", "amsgrad", "adagrad", "nadam", "rmsprop", "rmsprop_centered",
  "adafactor", "muon", "adamw8bit", "paged_adamw8bit", "paged_adamw32bit", "lion", "adamw_schedulefree",
  "sgd_schedulefree" }

-- impl: nil for foreach. weight_decay: nil or negative for the optimizer's own default.
function optim.make(name, params, impl, weight_decay)
  base.check_word("optimizer", name, optim.names)
  local options = { impl = impl }
  if weight_decay and weight_decay >= 0 then
    options.weight_decay = weight_decay
  end
  return makers[name](params, options)
end

-- Several optimizers, or the parameter groups of one, that step one after the other. params: of all, as a clip sees them.
function optim.together(params, optimizers)
  local self = { params = torch.keep(params), options = optimizers[1].options, optimizers = optimizers }
  function self:step()
    for i = 1, #optimizers do
      optimizers[i]:step()
    end
  end
  function self:zero_grad(set_to_none)
    for i = 1, #optimizers do
      optimizers[i]:zero_grad(set_to_none)
    end
  end
  return setmetatable(self, {})
end

-- ---- torch.nn.utils.clip_grad_norm_ (foreach, as PyTorch chooses on a GPU, or one tensor after the other) ----

local function get_total_norm(grads, foreach)
  local norms
  if foreach then
    norms = torch.foreach_norm(grads)
  else
    norms = torch.list()
    for i = 1, #grads do
      norms:append(torch.vector_norm(grads[i]))
    end
  end
  local total_norm = torch.vector_norm(torch.stack(norms))
  return total_norm
end

local function clip_grads_with_norm_(grads, max_norm, total_norm, foreach)
  local clip_coef = max_norm / (total_norm + 1e-6)
  local clip_coef_clamped = torch.clamp(clip_coef, { max = 1.0 })
  if foreach then
    torch.foreach_mul_(grads, { clip_coef_clamped })
    return
  end
  for i = 1, #grads do
    grads[i]:mul_(clip_coef_clamped)
  end
end

-- foreach: true when nil
function optim.clip_grad_norm_(params, max_norm, foreach)
  foreach = foreach ~= false
  local grads = torch.list()
  for i = 1, #params do
    if params[i].grad then
      grads:append(params[i].grad)
    end
  end
  return torch.no_grad(function()
    local total_norm = get_total_norm(grads, foreach)
    clip_grads_with_norm_(grads, max_norm, total_norm, foreach)
    return total_norm
  end)
end

return optim
