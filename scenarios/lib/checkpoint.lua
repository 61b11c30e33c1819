-- checkpoint.lua: torch.utils.checkpoint of 2.15, both ways, and save_on_cpu. A table with a metatable is not walked for
-- tensors: what it contains is a weak reference.
local nn = use "nn"
local routing = use "routing"
local checkpoint = {}

local function weak_table(content)
  return setmetatable(content or {}, {})
end

-- What checkpoints save, as the first step's forward shows: bytes of what nodes would have kept and the checkpoint lets go. Its
-- inputs, its results and what modules hold are there in any case.
local measured = weak_table { calls = 0, saved = 0 }

local function measure(frame, x)
  local id, bytes, category = x:storage()
  if category ~= "parameter" then
    frame.would_keep[id] = bytes
  end
end

local function measure_rest(frame, ...)
  local held = torch.tensors_in(...)
  for i = 1, #held do
    frame.would_keep[held[i]:storage()] = nil
  end
  measured.calls = measured.calls + 1
  for _, bytes in pairs(frame.would_keep) do
    measured.saved = measured.saved + bytes
  end
end

local SMALL = 0.05 -- of what is allocated after the forward: hardly worth a second run

-- A note where checkpoints save nothing, or little; at the end of the first forward.
function checkpoint.report(what)
  if measured.reported or measured.calls == 0 then
    return
  end
  measured.reported = true
  local allocated = torch.memory_stats().allocated
  if measured.saved == 0 then
    note(string.format("checkpoints of %s save nothing: what they would keep for the backward is their input", what))
  elseif measured.saved < SMALL * allocated then
    note(string.format("checkpoints of %s save little: %.2f MB of the %.2f MB that are allocated after the forward", what,
      measured.saved / 1e6, allocated / 1e6))
  end
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
  local frame = weak_table { weak_holders = weak_table(), recomp_counter = 0, is_recomputed = false,
    would_keep = not measured.reported and weak_table() or nil }
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
    pack = function(x)
      if frame.would_keep then
        measure(frame, x)
      end
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
  if frame.would_keep then
    measure_rest(frame, saved_args, ret, more, third)
    frame.would_keep = nil
  end
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
    ctx.place, ctx.requires_grad, ctx.saved, ctx.others = {}, {}, {}, {}
    for i = 1, args.n do
      if type(args[i]) == "userdata" then
        ctx.saved[#ctx.saved + 1] = args[i]
        ctx.place[#ctx.saved], ctx.requires_grad[#ctx.saved] = i, args[i].requires_grad
      else
        ctx.others[i] = args[i]
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
    for i, other in pairs(ctx.others) do
      detached[i] = other
    end
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

-- checkpoint(use_reentrant, positional, f, ...): f(...). The first `positional` arguments (1 when nil) are given by position; the
-- others are keywords, which have no gradient under use_reentrant=True.
function checkpoint.checkpoint(use_reentrant, positional, function_, ...)
  if not torch.is_grad_enabled() then
    return function_(...)
  end
  if not use_reentrant then
    return without_reentrant(function_, ...)
  end
  checkpoint.lost_gradient = checkpoint.lost_gradient or not (...).requires_grad
  local arguments = table.pack(...)
  local first = math.min(positional or 1, arguments.n)
  local keywords = { table.unpack(arguments, first + 1, arguments.n) }
  local count = arguments.n - first
  local function run_function(...)
    local given = table.pack(...)
    for i = 1, count do
      given[first + i] = keywords[i]
    end
    return function_(table.unpack(given, 1, first + count))
  end
  return CheckpointFunction(run_function, torch.tensors_in(keywords), table.unpack(arguments, 1, first))
end

-- module.forward under a checkpoint.
function checkpoint.wrap(module, use_reentrant)
  local forward = module.forward
  function module:forward(...)
    return checkpoint.checkpoint(use_reentrant, self.checkpoint_positional, bare(self, forward), ...)
  end
end

-- Transformers' gradient_checkpointing_enable: the layers of a ModuleList run under checkpoint; the first of every
-- `every` (1 when nil), as after setting layer.gradient_checkpointing.
function checkpoint.enable(layers, use_reentrant, every)
  for i = 0, layers.length - 1, every or 1 do
    nn.each_module(layers[i], function(module)
      module.gradient_checkpointing = true
    end)
    checkpoint.wrap(layers[i], use_reentrant)
  end
end

-- Parts of layers by the names that models have for them.
local parts = {
  attention = { self_attn = true, attn = true, attention = true, self_attention = true },
  mlp = { mlp = true },
}

local ATTENTION_POSITIONAL = 4 -- queries, keys, values, mask

-- A part of each layer under a checkpoint: its attention or its MLP, every linear layer, or the attention without its projections.
-- Returns how many there were.
function checkpoint.enable_parts(layers, use_reentrant, every, what)
  local count = 0
  local function visit(module, name)
    if what == "core_attention" and module.attention_interface then
      local attention_interface = module.attention_interface
      function module.attention_interface(self, ...)
        local function run(...)
          return attention_interface(self, ...)
        end
        return checkpoint.checkpoint(use_reentrant, ATTENTION_POSITIONAL, run, ...)
      end
    elseif not (what == "linears" and (module.is_linear or module.compute_dtype) or parts[what] and parts[what][name]) then
      return
    else
      checkpoint.wrap(module, use_reentrant)
    end
    count = count + 1
  end
  for i = 0, layers.length - 1, every or 1 do
    nn.each_module(layers[i], visit)
  end
  return count
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
