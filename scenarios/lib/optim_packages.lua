-- optim_packages.lua: optimizers that are not torch.optim's, as their packages run them, name by name: Lion
-- (lion-pytorch 0.2.5), AdamW and SGD without a schedule (schedulefree 1.4.1).
local base = use "optim_base"
local packages = {}

-- ---- Lion: lion_pytorch/lion_pytorch.py (forloop), lion_pytorch/foreach.py ----

local function lion_update_fn(p, grad, exp_avg)
  p:mul_(1.0)
  local update = exp_avg:clone():mul_(0.9):add(grad):sgn_()
  p:add_(update)
  exp_avg:mul_(0.99):add_(grad)
end

local function lion_forloop(self)
  for i = 1, #self.params do
    local p = self.params[i]
    local grad = p.grad
    if grad then
      if not self.state[i].exp_avg then
        base.set_state(self, i, "exp_avg", torch.zeros_like(p))
      end
      lion_update_fn(p, grad, self.state[i].exp_avg)
    end
  end
end

local function lion_foreach(self)
  local params, grads, exp_avgs = base.init_group(self, { "exp_avg" }, function(self, i, p)
    base.set_state(self, i, "exp_avg", torch.zeros_like(p))
  end)
  if self.options.weight_decay > 0 then
    torch.foreach_mul_(params)
  end
  local updates = torch.list()
  for i = 1, #exp_avgs do
    updates:append(exp_avgs[i]:clone())
  end
  torch.foreach_lerp_(updates, grads)
  torch.foreach_sign_(updates)
  torch.foreach_add_(params, updates)
  torch.foreach_lerp_(exp_avgs, grads)
end

function packages.Lion(params, options)
  local o = base.options({ weight_decay = 0 }, options)
  return base.new(params, o, o.impl == "forloop" and lion_forloop or lion_foreach)
end

-- ---- schedulefree/adamw_schedulefree.py ----

local function init_schedulefree_adamw(self, i, p)
  base.set_state(self, i, "z", p:clone())
  base.set_state(self, i, "exp_avg_sq", torch.zeros_like(p))
end

local function schedulefree_adamw_foreach(self, y, grad, exp_avg_sq, z)
  torch.foreach_mul_(exp_avg_sq)
  torch.foreach_addcmul_(exp_avg_sq, grad, grad)
  local denom = torch.foreach_div(exp_avg_sq)
  torch.foreach_sqrt_(denom)
  torch.foreach_add_(denom)
  torch.foreach_div_(grad, denom)
  if self.options.weight_decay ~= 0 then
    torch.foreach_add_(grad, y)
  end
  torch.foreach_lerp_(y, z)
  torch.foreach_add_(y, grad)
  torch.foreach_sub_(z, grad)
end

local function schedulefree_adamw_forloop(self, params, grads, exp_avg_sqs, zs)
  local denom
  for i = 1, #params do
    local y, grad, exp_avg_sq, z = params[i], grads[i], exp_avg_sqs[i], zs[i]
    exp_avg_sq:mul_(0.999):addcmul_(grad, grad)
    denom = (exp_avg_sq / 0.1):sqrt_():add_(1e-8)
    grad:div_(denom)
    if self.options.weight_decay ~= 0 then
      grad:add_(y)
    end
    y:lerp_(z, 0.5)
    y:add_(grad)
    z:sub_(grad)
  end
end

local function schedulefree_adamw_step(self)
  local y, grad, exp_avg_sq, z = base.init_group(self, { "exp_avg_sq", "z" }, init_schedulefree_adamw)
  if self.options.impl == "forloop" then
    schedulefree_adamw_forloop(self, y, grad, exp_avg_sq, z)
  else
    schedulefree_adamw_foreach(self, y, grad, exp_avg_sq, z)
  end
end

function packages.AdamWScheduleFree(params, options)
  return base.new(params, base.options({ weight_decay = 0 }, options), schedulefree_adamw_step)
end

-- ---- schedulefree/sgd_schedulefree.py ----

local function schedulefree_sgd_step(self)
  local y, grad, z = base.init_group(self, { "z" }, function(self, i, p)
    base.set_state(self, i, "z", p:clone())
  end)
  if self.options.impl ~= "forloop" then
    if self.options.weight_decay ~= 0 then
      torch.foreach_add_(grad, y)
    end
    torch.foreach_lerp_(y, z)
    torch.foreach_add_(y, grad)
    torch.foreach_sub_(z, grad)
    return
  end
  for i = 1, #y do
    if self.options.weight_decay ~= 0 then
      grad[i]:add_(y[i])
    end
    y[i]:lerp_(z[i], 0.5)
    y[i]:add_(grad[i])
    z[i]:sub_(grad[i])
  end
end

function packages.SGDScheduleFree(params, options)
  return base.new(params, base.options({ weight_decay = 0 }, options), schedulefree_sgd_step)
end

return packages
