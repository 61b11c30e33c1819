-- optim_more.lua: Adagrad, NAdam, RMSprop, Adafactor and Muon as torch.optim 2.15 runs them, name by name.
local base = use "optim_base"
local more = {}

-- ---- Adagrad (adagrad.py): its sums exist from the constructor on ----

local function single_tensor_adagrad(self, params, grads, state_sums)
  for i = 1, #params do
    local param, grad, state_sum = params[i], grads[i], state_sums[i]
    if self.options.weight_decay ~= 0 then
      grad = grad + param
    end
    state_sum:addcmul_(grad, grad)
    local std = state_sum:sqrt():add_(1e-10)
    param:addcdiv_(grad, std)
  end
end

local function multi_tensor_adagrad(self, params, grads, state_sums)
  local device_grads = grads
  if self.options.weight_decay ~= 0 then
    device_grads = torch.foreach_add(device_grads, params)
  end
  torch.foreach_addcmul_(state_sums, device_grads, device_grads)
  local std = torch.foreach_sqrt(state_sums)
  torch.foreach_add_(std)
  local numerator
  if self.options.weight_decay ~= 0 then
    torch.foreach_mul_(device_grads)
    numerator = device_grads
  else
    numerator = torch.foreach_mul(device_grads)
  end
  torch.foreach_addcdiv_(params, numerator, std)
end

local function adagrad_step(self)
  local params, grads, state_sums, state_steps = base.init_group(self, { "sum", "step" }, function() end)
  if self.options.impl == "fused" then
    torch.fused_adagrad_(params, grads, state_sums, state_steps)
  elseif self.options.impl == "foreach" then
    multi_tensor_adagrad(self, params, grads, state_sums)
  else
    single_tensor_adagrad(self, params, grads, state_sums)
  end
end

function more.Adagrad(params, options)
  local self = base.new(params, base.options({ weight_decay = 0 }, options), adagrad_step)
  for i = 1, #params do
    if self.options.impl == "fused" then
      base.set_state(self, i, "step", torch.zeros({}, torch.float32))
    end
    base.set_state(self, i, "sum", torch.zeros_like(params[i]))
  end
  return self
end

-- ---- NAdam (nadam.py): step and mu_product live on the host ----

local function init_nadam_state(self, i, p)
  base.set_state(self, i, "exp_avg", torch.zeros_like(p))
  base.set_state(self, i, "exp_avg_sq", torch.zeros_like(p))
end

local function single_tensor_nadam(self, params, grads, exp_avgs, exp_avg_sqs)
  for i = 1, #params do
    local param, grad, exp_avg, exp_avg_sq = params[i], grads[i], exp_avgs[i], exp_avg_sqs[i]
    if self.options.weight_decay ~= 0 then
      grad = grad + param
    end
    exp_avg:lerp_(grad, 0.1)
    exp_avg_sq:mul_(0.999):addcmul_(grad, grad)
    local denom = (exp_avg_sq / 1.0):sqrt()
    denom:add_(1e-8)
    param:addcdiv_(grad, denom)
    param:addcdiv_(exp_avg, denom)
  end
end

local function multi_tensor_nadam(self, params, grads, exp_avgs, exp_avg_sqs)
  local grouped_grads = grads
  if self.options.weight_decay ~= 0 then
    grouped_grads = torch.foreach_add(grouped_grads, params)
  end
  torch.foreach_lerp_(exp_avgs, grouped_grads)
  torch.foreach_mul_(exp_avg_sqs)
  torch.foreach_addcmul_(exp_avg_sqs, grouped_grads, grouped_grads)
  local exp_avg_sq_sqrt = torch.foreach_sqrt(exp_avg_sqs)
  torch.foreach_div_(exp_avg_sq_sqrt)
  torch.foreach_add_(exp_avg_sq_sqrt)
  torch.foreach_addcdiv_(params, grouped_grads, exp_avg_sq_sqrt)
  torch.foreach_addcdiv_(params, exp_avgs, exp_avg_sq_sqrt)
end

local function nadam_step(self)
  assert(self.options.impl ~= "fused", "NAdam has no fused form")
  local params, grads, exp_avgs, exp_avg_sqs = base.init_group(self, { "exp_avg", "exp_avg_sq" }, init_nadam_state)
  local step = self.options.impl == "foreach" and multi_tensor_nadam or single_tensor_nadam
  step(self, params, grads, exp_avgs, exp_avg_sqs)
end

function more.NAdam(params, options)
  return base.new(params, base.options({ weight_decay = 0 }, options), nadam_step)
end

-- ---- RMSprop (rmsprop.py) ----

local function init_rmsprop_state(self, i, p)
  base.set_state(self, i, "square_avg", torch.zeros_like(p))
  if self.options.momentum > 0 then
    base.set_state(self, i, "momentum_buffer", torch.zeros_like(p))
  end
  if self.options.centered then
    base.set_state(self, i, "grad_avg", torch.zeros_like(p))
  end
end

local function single_tensor_rmsprop(self, params, grads, square_avgs, momentum_buffer_list, grad_avgs)
  local o = self.options
  local avg -- of a parameter until the next one's is there
  for i = 1, #params do
    local param, grad, square_avg = params[i], grads[i], square_avgs[i]
    if o.weight_decay ~= 0 then
      grad = grad + param
    end
    square_avg:mul_(0.99):addcmul_(grad, grad)
    if o.centered then
      local grad_avg = grad_avgs[i]
      grad_avg:lerp_(grad, 0.01)
      avg = square_avg:addcmul(grad_avg, grad_avg):sqrt_()
    else
      avg = square_avg:sqrt()
    end
    avg = avg:add_(1e-8)
    if o.momentum > 0 then
      local buf = momentum_buffer_list[i]
      buf:mul_(o.momentum):addcdiv_(grad, avg)
      param:add_(buf)
    else
      param:addcdiv_(grad, avg)
    end
  end
end

local function multi_tensor_rmsprop(self, params, grads, square_avgs, momentum_buffer_list, grad_avgs)
  local o = self.options
  local grouped_grads = grads
  if o.weight_decay ~= 0 then
    grouped_grads = torch.foreach_add(grouped_grads, params)
  end
  torch.foreach_mul_(square_avgs)
  torch.foreach_addcmul_(square_avgs, grouped_grads, grouped_grads)
  local avg
  if o.centered then
    torch.foreach_lerp_(grad_avgs, grouped_grads)
    avg = torch.foreach_addcmul(square_avgs, grad_avgs, grad_avgs)
    torch.foreach_sqrt_(avg)
    torch.foreach_add_(avg)
  else
    avg = torch.foreach_sqrt(square_avgs)
    torch.foreach_add_(avg)
  end
  if o.momentum > 0 then
    torch.foreach_mul_(momentum_buffer_list)
    torch.foreach_addcdiv_(momentum_buffer_list, grouped_grads, avg)
    torch.foreach_add_(params, momentum_buffer_list)
  else
    torch.foreach_addcdiv_(params, grouped_grads, avg)
  end
end

local function rmsprop_step(self)
  assert(self.options.impl ~= "fused", "RMSprop has no fused form")
  local params, grads, square_avgs, momentum_buffer_list, grad_avgs =
    base.init_group(self, { "square_avg", "momentum_buffer", "grad_avg" }, init_rmsprop_state)
  local step = self.options.impl == "foreach" and multi_tensor_rmsprop or single_tensor_rmsprop
  step(self, params, grads, square_avgs, momentum_buffer_list, grad_avgs)
end

function more.RMSprop(params, options)
  return base.new(params, base.options({ weight_decay = 0, momentum = 0, centered = false }, options), rmsprop_step)
end

-- ---- Adafactor (_adafactor.py): row and column factors of a matrix' variance; a vector has its own ----

local function with_one(shape, dim)
  local sizes = table.move(shape, 1, #shape, 1, {})
  sizes[#sizes + 1 + dim] = 1
  return sizes
end

local function init_adafactor_state(self, i, p)
  local grad = p.grad
  if grad.ndim > 1 then
    base.set_state(self, i, "row_var", torch.zeros(with_one(grad.shape, -1), grad.dtype))
    base.set_state(self, i, "col_var", torch.zeros(with_one(grad.shape, -2), grad.dtype))
  else
    base.set_state(self, i, "variance", torch.zeros_like(grad))
  end
end

-- of one gradient along a dim, in place of the mean of its square
local function mean_of_square(grad, dim)
  return torch.vector_norm(grad, dim, true):square_():div_(grad:size(dim))
end

local function single_tensor_adafactor(self)
  local row_mean, col_mean, var_estimate, grad_squared, update
  for i = 1, #self.params do
    local param = self.params[i]
    local grad, state = param.grad, self.state[i]
    if grad then
      param:vector_norm():item()
      if self.options.weight_decay ~= 0 then
        param:mul_(1 - self.options.weight_decay)
      end
      if grad.ndim > 1 then
        row_mean = mean_of_square(grad, -1)
        state.row_var:lerp_(row_mean, 1.0)
        col_mean = mean_of_square(grad, -2)
        state.col_var:lerp_(col_mean, 1.0)
        var_estimate = torch.matmul(state.row_var, state.col_var)
        var_estimate:div_(state.row_var:mean(-2, true):clamp_(1e-7))
      else
        grad_squared = grad * grad
        state.variance:lerp_(grad_squared, 1.0)
        var_estimate = state.variance:clone()
      end
      update = var_estimate:clamp_(1e-14):rsqrt_()
      update:mul_(grad)
      update:vector_norm():item()
      param:add_(update)
    end
  end
end

local function all_norms(tensors)
  for i = 1, #tensors do
    tensors[i]:vector_norm():item()
  end
end

local function mean_of_squares(grads, dim)
  local means = torch.list()
  for i = 1, #grads do
    means:append(torch.vector_norm(grads[i], dim, true))
  end
  torch.foreach_mul_(means, means)
  torch.foreach_div_(means)
  return means
end

-- One group: all matrices or all vectors.
local function multi_tensor_adafactor_group(self, held, params, grads, row_vars, col_vars, variances)
  all_norms(params)
  if self.options.weight_decay ~= 0 then
    torch.foreach_mul_(params)
  end
  local var_estimates = torch.list()
  if grads[1].ndim > 1 then
    local row_means = mean_of_squares(grads, -1)
    torch.foreach_lerp_(row_vars, row_means)
    row_means = nil
    local col_means = mean_of_squares(grads, -2)
    torch.foreach_lerp_(col_vars, col_means)
    col_means = nil
    for i = 1, #row_vars do
      var_estimates:append(torch.matmul(row_vars[i], col_vars[i]))
    end
    local row_var_means = torch.list()
    for i = 1, #row_vars do
      row_var_means:append(row_vars[i]:mean(-2, true))
    end
    torch.foreach_clamp_min_(row_var_means)
    torch.foreach_div_(var_estimates, row_var_means)
    row_var_means = nil
  else
    local grads_squared = torch.foreach_mul(grads, grads)
    torch.foreach_lerp_(variances, grads_squared)
    grads_squared = nil
    for i = 1, #variances do
      var_estimates:append(variances[i]:clone())
    end
  end
  torch.foreach_clamp_min_(var_estimates)
  torch.foreach_rsqrt_(var_estimates)
  torch.foreach_mul_(var_estimates, grads)
  held.updates = var_estimates -- of the last group until here
  all_norms(held.updates)
  torch.foreach_mul_(held.updates)
  torch.foreach_add_(params, held.updates)
end

-- Matrices and vectors apart, in the order in which their kind first appears.
local function multi_tensor_adafactor(self)
  local groups, order = {}, {}
  for i = 1, #self.params do
    local p = self.params[i]
    if p.grad then
      local key = p.grad.ndim > 1 and "matrix" or "vector"
      local group = groups[key]
      if not group then
        group = { torch.list(), torch.list(), torch.list(), torch.list(), torch.list() }
        groups[key] = group
        order[#order + 1] = key
      end
      local state = self.state[i]
      group[1]:append(p)
      group[2]:append(p.grad)
      if state.variance then
        group[5]:append(state.variance)
      else
        group[3]:append(state.row_var)
        group[4]:append(state.col_var)
      end
    end
  end
  local held = {}
  for _, key in ipairs(order) do
    multi_tensor_adafactor_group(self, held, table.unpack(groups[key]))
  end
end

local function adafactor_step(self)
  assert(self.options.impl ~= "fused", "Adafactor has no fused form")
  base.init_group(self, {}, init_adafactor_state)
  local step = self.options.impl == "foreach" and multi_tensor_adafactor or single_tensor_adafactor
  step(self)
end

function more.Adafactor(params, options)
  return base.new(params, base.options({ weight_decay = 0 }, options), adafactor_step)
end

-- ---- Muon (_muon.py): one form only ----

local function zeropower_via_newtonschulz(grad)
  local ortho_grad = grad.dtype == torch.bfloat16 and grad:clone() or grad:to(torch.bfloat16)
  if grad:size(0) > grad:size(1) then
    ortho_grad = ortho_grad:t()
  end
  ortho_grad:div_(ortho_grad:vector_norm():clamp(1e-7))
  for _ = 1, 5 do
    local gram_matrix = torch.matmul(ortho_grad, ortho_grad:t())
    local gram_update = torch.addmm(gram_matrix, gram_matrix, gram_matrix, -4.7750, 2.0315)
    ortho_grad = torch.addmm(ortho_grad, gram_update, ortho_grad, 3.4445)
  end
  if grad:size(0) > grad:size(1) then
    ortho_grad = ortho_grad:t()
  end
  return ortho_grad
end

local function init_muon_state(self, i, p)
  base.set_state(self, i, "momentum_buffer", torch.zeros_like(p.grad))
end

local function muon_step(self)
  local params, grads, bufs = base.init_group(self, { "momentum_buffer" }, init_muon_state)
  local function single_tensor_muon()
    for i = 1, #params do
      local param, grad, buf = params[i], grads[i], bufs[i]
      buf:lerp_(grad, 0.05)
      local update = grad:lerp(buf, 0.95)
      update = zeropower_via_newtonschulz(update)
      param:mul_(1 - 1e-4)
      param:add_(update)
    end
  end
  single_tensor_muon()
end

function more.Muon(params, options)
  for i = 1, #params do
    assert(params[i].ndim == 2, "Muon takes matrices only; give it no biases (bias=false)")
  end
  return base.new(params, base.options({ weight_decay = 0.1 }, options), muon_step)
end

return more
