-- language_model.lua: what a script does with a causal language model: train it, evaluate it between steps, generate with
-- it; and the parameters of that.
local nn = use "nn"
local training = use "training"
local finetune = use "finetune"
local checkpoint = use "checkpoint"
local language_rows = use "language_rows"
local rows = use "rows"
local language_model = {}

-- The scenario's own rows, then those of training a language model. Without a cache there is no generation.
function language_model.parameters(own, has_cache)
  if has_cache then
    rows.append(own, language_rows.generation)
    rows.append(own, language_rows.paged)
  end
  rows.append(own, finetune.rows)
  rows.append(own, language_rows.losses)
  rows.append(own, language_rows.training)
  return training.parameters(own)
end

local function ids(batch, length)
  return torch.zeros({ batch, length }, torch.int64):as("input", "input_ids")
end

-- The loss of one batch without gradients.
local function evaluate(model, p, input_ids)
  nn.train(model, false)
  end_step()
  phase "evaluation"
  torch.no_grad(torch.autocast, p.autocast, model, input_ids, input_ids)
  nn.train(model, true)
end

-- Whole numbers from low to high, evenly, by a linear congruential generator: a function that gives the next one.
local function drawing(seed, low, high)
  local state = seed % 2147483648
  return function()
    state = (state * 1103515245 + 12345) % 2147483648
    return low + state // 65536 * (high - low + 1) // 32768
  end
end

local function train(p, model)
  local optimizer, scaler = training.optimizer(p, model)

  local own_loss = p.loss ~= "model" and use("losses").make(p, model) or nil
  local function forward(input_ids)
    local out
    if own_loss then
      out = p.save_on_cpu and checkpoint.save_on_cpu(own_loss, input_ids) or own_loss(input_ids)
      return out
    end
    if p.save_on_cpu then
      out = checkpoint.save_on_cpu(model, input_ids, input_ids)
    else
      out = model(input_ids, input_ids)
    end
    return p.keep_outputs and out or out.loss
  end

  -- Sequences and tokens of step i: fixed ones, or each step's own.
  local function batch_of(i)
    return p.batches[i] or p.batch, p.lengths[i] or p.seq
  end

  local function recover()
    optimizer:zero_grad()
  end

  for _, key in ipairs { "lengths", "batches" } do
    for _, value in ipairs(p[key]) do
      if value < 1 then
        error(string.format("%s: found %d, expected numbers from 1 on", key, value), 0)
      end
    end
  end
  local drawn = p.length_min > 0 and drawing(p.length_seed, math.min(p.length_min, p.seq), p.seq)
  if drawn and #p.lengths == 0 then
    for i = 1, math.max(#p.batches, p.steps) do
      p.lengths[i] = drawn()
    end
  end
  local varies = #p.batches > 0 or #p.lengths > 0
  local steps = varies and math.max(#p.batches, #p.lengths) or p.steps
  local fixed = not varies and ids(p.batch, p.seq) or nil
  local eval_ids = p.eval_every > 0 and ids(p.eval_batch, p.seq) or nil
  for i = 1, steps do
    begin_step(i)
    local function run()
      training.step(p, i, optimizer, scaler, forward, fixed or ids(batch_of(i)))
    end
    if p.catch_oom then
      torch.catch_oom(run, recover)
    else
      run()
    end
    training.after_step(optimizer)
    if eval_ids and i % p.eval_every == 0 and i < steps then
      evaluate(model, p, eval_ids)
    end
  end
end

-- build(p) returns the model.
function language_model.run(p, build)
  if p.memory_fraction < 1 then
    torch.set_per_process_memory_fraction(p.memory_fraction)
  end
  if p.mode == "generate" and p.cache == "paged" then
    begin_step(1)
    use("paged").run(p)
    return
  end
  local model = finetune.build(p, function()
    return build(p)
  end)
  finetune.apply(p, model)
  if p.mode == "generate" then
    begin_step(1)
    nn.train(model, false)
    use("generation").run(p, model)
  else
    train(p, model)
  end
end

return language_model
