-- checkpoint.lua: torch.utils.checkpoint of 2.15, both ways, and save_on_cpu. A table with a metatable is not walked for
-- tensors: what it contains is a weak reference.
local nn = use "nn"
local routing = use "routing"
local checkpoint = {}

local function weak_table(content)
  return setmetatable(content or {}, {})
end

-- The layer again, under its own name but without its hooks: a call of `forward` itself.
local function bare(layer, forward)
  return setmetatable({
    _path = layer._path,
    forward = function(_, ...)
      return forward(layer, ...)
    end,
  }, { __call = nn.call })
end

-- use_reentrant=False. Nodes of the first run keep holders in place of tensors. The first of them that is needed runs the
-- function again, which fills the holders, and stops at the last one.
-- The input is saved as tensors are (_NoopSaveInputs): under save_on_cpu on the host; keyword arguments are held as they are.
local function without_reentrant(function_, ...)
  local frame = weak_table { weak_holders = weak_table(), recomp_counter = 0, is_recomputed = false }
  local args = weak_table(table.pack(...))
  local saved_args
  if checkpoint.saves_on_cpu then
    saved_args = torch.tensors_in(table.unpack(args, 2, args.n))
    saved_args:append(torch.no_grad(torch.cpu, args[1]))
    args.input, args.requires_grad = saved_args[#saved_args], args[1].requires_grad
  else
    saved_args = torch.tensors_in(...)
  end
  local autocast = torch.autocast_dtype()
  local drawn = routing.save() -- the values are the same at the second run, so is what is drawn in their place

  local recomputation_hook = {
    pack = function(x)
      frame.recomp_counter = frame.recomp_counter + 1
      local holder = frame.weak_holders[frame.recomp_counter]
      if torch.is_held(holder) then
        holder[1] = x
      end
      if frame.recomp_counter == #frame.weak_holders then
        torch.stop()
      end
      return x
    end,
    unpack = function(x)
      return x
    end,
  }

  local function recompute_fn()
    local input = args[1]
    if args.input then
      input = torch.no_grad(torch.cuda, args.input)
      input.requires_grad = args.requires_grad
    end
    torch.set_grad_enabled(true)
    torch.autocast(autocast, function_, input, table.unpack(args, 2, args.n))
  end

  local checkpoint_hook = {
    holds = saved_args,
    pack = function(_)
      local holder = torch.list()
      frame.weak_holders[#frame.weak_holders + 1] = holder
      return holder
    end,
    unpack = function(holder)
      if not frame.is_recomputed then
        local grad_enabled, now = torch.is_grad_enabled(), routing.save()
        routing.restore(drawn)
        torch.catch_stop(torch.saved_tensors_hooks, recomputation_hook, recompute_fn)
        routing.restore(now)
        torch.set_grad_enabled(grad_enabled)
        frame.is_recomputed = true
      end
      local ret = holder[1]
      holder[1] = nil
      return ret
    end,
  }
  local ret, more, third = torch.saved_tensors_hooks(checkpoint_hook, function_, ...)
  return ret, more, third
end

-- torch.autograd.backward of several tensors: the graph's root is a node before all of them. Its own result is on the host.
local GraphRoot = torch.autograd_function {
  name = "GraphRoot",
  forward = function(ctx, gradients, ...)
    ctx.gradients = weak_table { table.unpack(gradients) }
    return torch.host_scalar(torch.float32)
  end,
  backward = function(ctx)
    return table.unpack(ctx.gradients)
  end,
}

local RESULTS = 3 -- of a layer, at most

-- The results among `outputs` that require a gradient, and the gradients.
local function backward_of(outputs, gradients)
  local with_grad, arrived = {}, {}
  for i = 1, RESULTS do
    if outputs[i] and outputs[i].requires_grad then
      with_grad[#with_grad + 1], arrived[#arrived + 1] = outputs[i], gradients[i]
    end
  end
  if #with_grad == 1 then
    with_grad[1]:backward(arrived[1])
    return
  end
  local grad_enabled = torch.set_grad_enabled(true)
  local root = GraphRoot(arrived, table.unpack(with_grad))
  torch.set_grad_enabled(grad_enabled)
  root:backward(torch.host_scalar(torch.float32))
end

-- use_reentrant=True: the function runs without gradients; its backward runs it again, on detached inputs, and then a
-- backward of its own. Keywords have no gradient.
local CheckpointFunction = torch.autograd_function {
  name = "CheckpointFunction",
  forward = function(ctx, run_function, keywords, ...)
    local args = table.pack(...)
    ctx.run_function, ctx.count = run_function, args.n
    ctx.holds = keywords
    ctx.autocast = torch.autocast_dtype()
    ctx.drawn = routing.save()
    ctx.place, ctx.requires_grad, ctx.saved = {}, {}, {}
    for i = 1, args.n do
      if args[i] then
        ctx.saved[#ctx.saved + 1] = args[i]
        ctx.place[#ctx.saved], ctx.requires_grad[#ctx.saved] = i, args[i].requires_grad
      end
    end
    local output, second, third = run_function(...)
    ctx.results = {}
    for i, result in pairs { output, second, third } do
      ctx.results[i] = { shape = result.shape, dtype = result.dtype }
    end
    return output, second, third
  end,
  backward = function(ctx, tensors, ...)
    local gradients = { ... }
    for i, result in pairs(ctx.results) do -- set_materialize_grads
      gradients[i] = gradients[i] or torch.zeros(result.shape, result.dtype)
    end
    local detached = {}
    for i = 1, #tensors do
      detached[ctx.place[i]] = tensors[i]:detach()
      detached[ctx.place[i]].requires_grad = ctx.requires_grad[i]
    end
    local grad_enabled, now = torch.set_grad_enabled(true), routing.save()
    routing.restore(ctx.drawn)
    local outputs = { torch.autocast(ctx.autocast, ctx.run_function, table.unpack(detached, 1, ctx.count)) }
    routing.restore(now)
    torch.set_grad_enabled(grad_enabled)
    backward_of(outputs, gradients)
    local returned = {}
    for i = 1, #tensors do
      returned[i] = detached[ctx.place[i]].grad
    end
    return table.unpack(returned, 1, #tensors)
  end,
}

-- checkpoint(use_reentrant, positional, f, input, ...): f(input, ...). What comes after the input are keyword arguments, which
-- have no gradient under use_reentrant=True, unless the caller gives all by position.
function checkpoint.checkpoint(use_reentrant, positional, function_, input, ...)
  if not torch.is_grad_enabled() then
    return function_(input, ...)
  end
  if not use_reentrant then
    return without_reentrant(function_, input, ...)
  end
  checkpoint.lost_gradient = checkpoint.lost_gradient or not input.requires_grad
  if positional then
    return CheckpointFunction(function_, nil, input, ...)
  end
  local keywords = table.pack(...)
  local function run_function(x)
    return function_(x, table.unpack(keywords, 1, keywords.n))
  end
  return CheckpointFunction(run_function, torch.tensors_in(...), input)
end

-- Transformers' gradient_checkpointing_enable: the layers of a ModuleList run under checkpoint; the first of every
-- `every` (1 when nil), as after setting layer.gradient_checkpointing.
function checkpoint.enable(layers, use_reentrant, every)
  for i = 0, layers.length - 1, every or 1 do
    local layer = layers[i]
    local forward = layer.forward
    nn.each_module(layer, function(module)
      module.gradient_checkpointing = true
    end)
    function layer:forward(...)
      return checkpoint.checkpoint(use_reentrant, self.checkpoint_positional, bare(self, forward), ...)
    end
  end
end

-- torch.autograd.graph.save_on_cpu around f(...)
function checkpoint.save_on_cpu(f, ...)
  local hooks = {
    pack = function(tensor)
      return tensor:cpu()
    end,
    unpack = function(tensor)
      return tensor:cuda()
    end,
  }
  checkpoint.saves_on_cpu = true
  local result = torch.saved_tensors_hooks(hooks, f, ...)
  checkpoint.saves_on_cpu = false
  return result
end

return checkpoint
