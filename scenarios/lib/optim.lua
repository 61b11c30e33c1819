-- optim.lua: torch.optim. Each optimizer in its three forms: forloop (one op a tensor), foreach (one op a list; what PyTorch
-- chooses on a GPU), fused (one kernel for everything). States belong to the optimizer from the first step that finds a
-- gradient.
local optim = {}

local function zero_grad(self, set_to_none)
  for i = 1, #self.params do
    local p = self.params[i]
    if p.grad then
      if set_to_none == false then
        p.grad:fill_()
      else
        p.grad = nil
      end
    end
  end
end

-- State tensors of parameter i under `name`, made by `make` when they are not there yet.
local function state_of(self, i, name, make)
  local state = self.state[i]
  if not state[name] then
    state[name] = torch.hold(make(), "optimizer_state", name, self.params[i])
  end
  return state[name]
end

local function new_optimizer(params, options, step)
  local self = { params = torch.keep(params), options = options, step = step, zero_grad = zero_grad, state = setmetatable({}, {}) }
  for i = 1, #params do
    self.state[i] = setmetatable({}, {})
  end
  return setmetatable(self, {})
end

-- ---- Adam, AdamW (torch/optim/adam.py) ----

local function init_adam_group(self, params_with_grad, grads, exp_avgs, exp_avg_sqs, state_steps)
  local params = self.params
  for i = 1, #params do
    local p = params[i]
    local grad = p.grad
    if grad then
      params_with_grad:append(p)
      grads:append(grad)
      local state = self.state[i]
      if not state.exp_avg then
        if self.options.impl == "fused" then
          state.step = torch.hold(torch.zeros({}, torch.float32), "optimizer_state", "step", p)
        end
        state.exp_avg = torch.hold(torch.zeros_like(p), "optimizer_state", "exp_avg", p)
        state.exp_avg_sq = torch.hold(torch.zeros_like(p), "optimizer_state", "exp_avg_sq", p)
      end
      exp_avgs:append(state.exp_avg)
      exp_avg_sqs:append(state.exp_avg_sq)
      if state.step then
        state_steps:append(state.step)
      end
    end
  end
end

local function single_tensor_adam(self, params, grads, exp_avgs, exp_avg_sqs)
  local o = self.options
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
    local denom = (exp_avg_sq:sqrt() / 1.0):add_(1e-8)
    param:addcdiv_(exp_avg, denom)
  end
end

local function multi_tensor_adam(self, params, grads, exp_avgs, exp_avg_sqs)
  local o = self.options
  local device_grads = grads
  if o.weight_decay ~= 0 then
    if o.decoupled then
      torch.foreach_mul_(params)
    else
      device_grads = torch.foreach_add(device_grads, params)
    end
  end
  torch.foreach_lerp_(exp_avgs, device_grads)
  torch.foreach_mul_(exp_avg_sqs)
  torch.foreach_addcmul_(exp_avg_sqs, device_grads, device_grads)
  device_grads = nil -- del device_grads
  local exp_avg_sq_sqrt = torch.foreach_sqrt(exp_avg_sqs)
  torch.foreach_div_(exp_avg_sq_sqrt)
  torch.foreach_add_(exp_avg_sq_sqrt)
  torch.foreach_addcdiv_(params, exp_avgs, exp_avg_sq_sqrt)
end

local function adam_step(self)
  local params_with_grad, grads = torch.list(), torch.list()
  local exp_avgs, exp_avg_sqs, state_steps = torch.list(), torch.list(), torch.list()
  init_adam_group(self, params_with_grad, grads, exp_avgs, exp_avg_sqs, state_steps)
  if self.options.impl == "fused" then
    torch.fused_adam_(params_with_grad, grads, exp_avgs, exp_avg_sqs, state_steps)
  elseif self.options.impl == "foreach" then
    multi_tensor_adam(self, params_with_grad, grads, exp_avgs, exp_avg_sqs)
  else
    single_tensor_adam(self, params_with_grad, grads, exp_avgs, exp_avg_sqs)
  end
end

local function no_grad_step(step)
  return function(self)
    torch.no_grad(step, self)
  end
end

function optim.Adam(params, impl)
  return new_optimizer(params, { impl = impl, lr = 1e-3, weight_decay = 0, decoupled = false }, no_grad_step(adam_step))
end

function optim.AdamW(params, impl)
  return new_optimizer(params, { impl = impl, lr = 1e-3, weight_decay = 1e-2, decoupled = true }, no_grad_step(adam_step))
end

-- ---- SGD (torch/optim/sgd.py) ----

-- The first momentum buffer is a copy of the gradient; fused makes it empty instead.
local function momentum_buffer(self, i, grad)
  return state_of(self, i, "momentum_buffer", function()
    if self.options.impl == "fused" then
      return torch.zeros_like(grad)
    end
    return grad:detach():clone()
  end)
end

local function single_tensor_sgd(self)
  for i = 1, #self.params do
    local param = self.params[i]
    local grad = param.grad
    if grad then
      if self.options.momentum ~= 0 then
        local first = not self.state[i].momentum_buffer
        local buf = momentum_buffer(self, i, grad)
        if not first then
          buf:mul_(self.options.momentum):add_(grad)
        end
        grad = buf
      end
      param:add_(grad)
    end
  end
end

local function multi_tensor_sgd(self)
  local params, grads, bufs = torch.list(), torch.list(), torch.list()
  local first = false
  for i = 1, #self.params do
    local p = self.params[i]
    if p.grad then
      params:append(p)
      grads:append(p.grad)
      if self.options.momentum ~= 0 then
        first = first or not self.state[i].momentum_buffer
        bufs:append(momentum_buffer(self, i, p.grad))
      end
    end
  end
  if self.options.impl == "fused" then
    torch.fused_sgd_(params, grads, bufs)
    return
  end
  if self.options.momentum ~= 0 then
    if not first then
      torch.foreach_mul_(bufs)
      torch.foreach_add_(bufs, grads)
    end
    grads = bufs
  end
  torch.foreach_add_(params, grads)
end

local function sgd_step(self)
  if self.options.impl == "forloop" then
    single_tensor_sgd(self)
  else
    multi_tensor_sgd(self)
  end
end

function optim.SGD(params, impl, momentum)
  return new_optimizer(params, { impl = impl, momentum = momentum or 0 }, no_grad_step(sgd_step))
end

-- By the names that scenarios use: sgd, momentum, adam, adamw
function optim.make(name, params, impl)
  if name == "sgd" then
    return optim.SGD(params, impl)
  elseif name == "momentum" then
    return optim.SGD(params, impl, 0.9)
  elseif name == "adam" then
    return optim.Adam(params, impl)
  end
  return optim.AdamW(params, impl)
end

-- torch.nn.utils.clip_grad_norm_ (foreach, as PyTorch chooses on a GPU)
local function get_total_norm(grads)
  local norms = torch.foreach_norm(grads)
  local total_norm = torch.vector_norm(torch.stack(norms))
  return total_norm
end

local function clip_grads_with_norm_(grads, max_norm, total_norm)
  local clip_coef = max_norm / (total_norm + 1e-6)
  local clip_coef_clamped = torch.clamp(clip_coef, { max = 1.0 })
  torch.foreach_mul_(grads, { clip_coef_clamped })
end

function optim.clip_grad_norm_(params, max_norm)
  local grads = torch.list()
  for i = 1, #params do
    if params[i].grad then
      grads:append(params[i].grad)
    end
  end
  return torch.no_grad(function()
    local total_norm = get_total_norm(grads)
    clip_grads_with_norm_(grads, max_norm, total_norm)
    return total_norm
  end)
end

return optim
