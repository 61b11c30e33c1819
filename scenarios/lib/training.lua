-- training.lua: the training loop of the scenarios: forward, backward, optimizer, zero_grad, and the parameters it reads.
local nn = use "nn"
local optim = use "optim"
local training = {}

local loop_parameters = {
  { "dtype", "fp32", "type of the weights", one_of = { "fp32", "bf16", "fp16" } },
  { "autocast", "none", "torch.autocast around the forward", one_of = { "none", "bf16", "fp16" } },
  { "optimizer", "adamw", "optimizer", one_of = optim.names },
  { "optimizer_impl", "foreach", "form of its step; PyTorch chooses foreach on a GPU", one_of = { "forloop", "foreach", "fused" } },
  { "accumulate", 1, "micro-batches a step", min = 1, max = 10000 },
  { "clip", 0.0, "clip_grad_norm_ at this norm; 0 = none", min = 0 },
  { "set_to_none", true, "zero_grad frees the gradients" },
  { "steps", 3, "training steps", min = 1, max = 10000 },
}

-- The scenario's own rows and those of the loop. A row of the scenario stands for one of the loop of the same name.
function training.parameters(rows)
  local own = {}
  for _, row in ipairs(rows) do
    own[row[1]] = true
  end
  for _, row in ipairs(loop_parameters) do
    if not own[row[1]] then
      rows[#rows + 1] = row
    end
  end
  return rows
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

-- Steps of `forward()`, which returns the loss, or a table of results with the loss among them.
function training.run(p, model, forward)
  local optimizer = optim.make(p.optimizer, nn.parameters(model), p.optimizer_impl)
  local function step()
    for _ = 1, p.accumulate do
      phase "forward"
      local out = torch.autocast(p.autocast, forward)
      local loss = type(out) == "table" and out.loss or out
      if p.accumulate > 1 then
        loss = loss / p.accumulate
      end
      phase "backward"
      loss:backward()
    end
    phase "optimizer"
    if p.clip > 0 then
      optim.clip_grad_norm_(optimizer.params, p.clip)
    end
    optimizer:step()
    phase "zero_grad"
    optimizer:zero_grad(p.set_to_none)
  end
  for i = 1, p.steps do
    begin_step(i)
    step()
  end
end

return training
