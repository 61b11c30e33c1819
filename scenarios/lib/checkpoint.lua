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
  local ret, more = torch.saved_tensors_hooks(checkpoint_hook, function_, ...)
  return ret, more
end

-- use_reentrant=True: the function runs without gradients; its backward runs it again, on a detached input, and then a
-- backward of its own.
local CheckpointFunction = torch.autograd_function {
  name = "CheckpointFunction",
  forward = function(ctx, run_function, keywords, input)
    ctx.run_function = run_function
    ctx.holds = keywords
    ctx.autocast = torch.autocast_dtype()
    ctx.requires_grad = input.requires_grad
    ctx.drawn = routing.save()
    ctx.saved = { input }
    local outputs, more = run_function(input)
    if more then
      error("checkpoint: with use_reentrant=True, a layer that returns several tensors is not modelled; use nonreentrant", 0)
    end
    return outputs
  end,
  backward = function(ctx, tensors, ...)
    local args = { ... }
    local detached_input = tensors[1]:detach()
    detached_input.requires_grad = ctx.requires_grad
    local grad_enabled, now = torch.set_grad_enabled(true), routing.save()
    routing.restore(ctx.drawn)
    local outputs = torch.autocast(ctx.autocast, ctx.run_function, detached_input)
    routing.restore(now)
    torch.set_grad_enabled(grad_enabled)
    outputs:backward(args[1])
    return detached_input.grad
  end,
}

-- checkpoint(use_reentrant, f, input, ...): f(input, ...); what comes after the input are keyword arguments, which have
-- no gradient.
function checkpoint.checkpoint(use_reentrant, function_, input, ...)
  if not torch.is_grad_enabled() then
    return function_(input, ...)
  end
  if not use_reentrant then
    return without_reentrant(function_, input, ...)
  end
  checkpoint.lost_gradient = checkpoint.lost_gradient or not input.requires_grad
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
    function layer:forward(...)
      return checkpoint.checkpoint(use_reentrant, bare(self, forward), ...)
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
