-- training.lua: the training loop of the scenarios: forward, backward, optimizer, zero_grad, and the parameters it reads.
local nn = use "nn"
local optim = use "optim"
local checkpoint = use "checkpoint"
local rows = use "rows"
local training = {}

local optim_names = { table.unpack(optim.names) }
optim_names[#optim_names + 1] = "muon_adamw"

local loop_parameters = rows.list {
  { "dtype", "fp32", "type of the weights", one_of = { "fp32", "bf16", "fp16" } },
  { "autocast", "none", "torch.autocast around the forward", one_of = { "none", "bf16", "fp16" } },
  { "optimizer", "adamw", "optimizer; muon_adamw: Muon for the layers' matrices, AdamW for the rest", one_of = optim_names },
  { "optimizer_impl", "foreach", "form of its step; PyTorch chooses foreach on a GPU, forloop for adafactor", one_of = { "forloop", "foreach", "fused" } },
  { "weight_decay", -1.0, "of the optimizer; negative = its default" },
  { "no_decay_group", false, "tensors of one dim (biases, norms) in a parameter group of their own, without decay" },
  { "optimizer_in_backward", false, "one optimizer a parameter, which steps and frees the gradient as soon as it is there" },
  { "ema", false, "an exponential moving average of the model (torch.optim.swa_utils.AveragedModel) beside it" },
  { "scaler", false, "torch.amp.GradScaler around the loss and the step" },
  { "inf_steps", {}, "scaler: steps whose gradients are not all finite, which the optimizer leaves out" },
  { "accumulate", 1, "micro-batches a step", min = 1, max = 10000 },
  { "clip", 0.0, "clip_grad_norm_ at this norm; 0 = none", min = 0 },
  { "clip_foreach", true, "clip by lists of tensors, as PyTorch chooses on a GPU, or one after the other" },
  { "set_to_none", true, "zero_grad frees the gradients" },
  { "steps", 3, "training steps", min = 1, max = 10000 },
}

-- The scenario's own rows and those of the loop. A row of the scenario stands for one of the loop of the same name.
function training.parameters(own)
  return rows.append(own, loop_parameters)
end

-- A model built in a type, as under torch.set_default_dtype, its parts named; on the device, or on the CPU and moved.
function training.build(class, config, dtype, on_host)
  local default = torch.set_default_dtype(dtype)
  local function make()
    return class(config)
  end
  local model = on_host and nn.cuda(make) or make()
  torch.set_default_dtype(default)
  nn.name(model)
  return model
end

-- What PyTorch's warning about reentrant checkpoints means for the backward that follows.
local function check_gradient(loss)
  if checkpoint.lost_gradient and not loss.requires_grad then
    error("the loss does not require grad and has no history: with reentrant checkpointing set input_require_grads=true", 0)
  end
end

local function has_inf(p, step)
  for _, with_inf in ipairs(p.inf_steps or {}) do
    if with_inf == step then
      return true
    end
  end
  return false
end

-- One optimizer step over p.accumulate micro-batches. forward(...) returns the loss, or a table of results with the loss
-- among them, which the step's name `out` then holds. scaler: amp.GradScaler or nil.
-- step: its number
function training.step(p, step, optimizer, scaler, forward, ...)
  for _ = 1, p.accumulate do
    phase "forward"
    local region = torch.autocast_enter(p.autocast) -- with torch.autocast(...):
    local out = forward(...)
    local loss = out
    if type(out) == "table" then
      loss = out.loss
    else
      out = nil
    end
    if p.accumulate > 1 then
      loss = loss / p.accumulate
    end
    torch.autocast_leave(region)
    check_gradient(loss)
    checkpoint.report(p.checkpoint_of or "layers")
    phase "backward"
    if scaler then
      scaler:scale(loss):backward()
    else
      loss:backward()
    end
  end
  if p.optimizer_in_backward then
    return
  end
  phase "optimizer"
  if p.clip > 0 then
    if scaler then
      scaler:unscale_(optimizer)
    end
    optim.clip_grad_norm_(optimizer.params, p.clip, p.clip_foreach)
  end
  if scaler then
    scaler:step(optimizer, has_inf(p, step))
    scaler:update()
  else
    optimizer:step()
  end
  phase "zero_grad"
  optimizer:zero_grad(p.set_to_none)
end

-- What follows a step, when its names are gone: the moving average.
function training.after_step(optimizer)
  if optimizer.average then
    phase "ema"
    optimizer.average:update_parameters()
  end
end

-- Optimizers that step in the backward, from the hook of their parameter.
local function optimizers_in_backward(p, model)
  if p.accumulate > 1 or p.clip > 0 or p.scaler or p.ema then
    error("optimizer_in_backward: the gradients are gone before accumulate, clip, scaler or ema could use them", 0)
  end
  local parameters = nn.parameters(model)
  for i = 1, #parameters do
    local own = torch.list()
    own:append(parameters[i])
    local optimizer = optim.make(p.optimizer, own, p.optimizer_impl, p.weight_decay)
    torch.register_post_accumulate_grad_hook(parameters[i], function()
      optimizer:step()
      optimizer:zero_grad()
    end)
  end
  return { params = parameters }
end

-- The parameters that `is_first` says, and the others.
local function parted(parameters, is_first)
  local first, rest = torch.list(), torch.list()
  for i = 1, #parameters do
    local list = is_first(parameters[i]) and first or rest
    list:append(parameters[i])
  end
  return first, rest
end

-- The matrices of the model's ModuleLists, by what they lie in.
local function matrices_of_layers(model)
  local found = setmetatable({}, {})
  nn.each_module(model, function(module)
    local list = module.is_module_list and nn.parameters(module) or {}
    for i = 1, #list do
      if #list[i].shape == 2 then
        found[list[i]:storage()] = true
      end
    end
  end)
  return found
end

local function make_optimizer(p, model)
  local parameters = nn.parameters(model)
  if p.optimizer == "muon_adamw" then
    local is_matrix = matrices_of_layers(model)
    local matrices, rest = parted(parameters, function(x)
      return is_matrix[x:storage()]
    end)
    return optim.together(parameters, { optim.make("muon", matrices), optim.make("adamw", rest, p.optimizer_impl, p.weight_decay) })
  elseif p.no_decay_group then
    local decayed, others = parted(parameters, function(x)
      return #x.shape > 1
    end)
    local first = optim.make(p.optimizer, decayed, p.optimizer_impl, p.weight_decay)
    return optim.together(parameters, { first, optim.make(p.optimizer, others, p.optimizer_impl, 0) })
  end
  return optim.make(p.optimizer, parameters, p.optimizer_impl, p.weight_decay)
end

-- The optimizer and the scaler (or nil) that the parameters ask for.
function training.optimizer(p, model)
  if p.optimizer_in_backward then
    return optimizers_in_backward(p, model)
  end
  if #(p.inf_steps or {}) > 0 and not p.scaler then
    error("inf_steps: without a scaler the optimizer steps in any case; set scaler=true", 0)
  end
  local average = p.ema and use("ema").AveragedModel(model) or nil
  if p.optimizer == "adafactor" and p.optimizer_impl == "foreach" then
    note "torch.optim.Adafactor chooses the form forloop unless it is told foreach=True: optimizer_impl=forloop is what runs by default"
  end
  local optimizer = make_optimizer(p, model)
  optimizer.average = average
  return optimizer, p.scaler and use("amp").GradScaler() or nil
end

-- Steps of `forward()`; see training.step.
function training.loop(p, optimizer, scaler, forward)
  for i = 1, p.steps do
    begin_step(i)
    training.step(p, i, optimizer, scaler, forward)
    training.after_step(optimizer)
  end
end

function training.run(p, model, forward)
  local optimizer, scaler = training.optimizer(p, model)
  training.loop(p, optimizer, scaler, forward)
end

return training
