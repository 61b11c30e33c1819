-- language_model.lua: what a script does with a causal language model: train it, evaluate it, generate with it.
local training = use "training"
local cache = use "cache"
local language_model = {}

function language_model.ids(batch, length)
  return torch.zeros({ batch, length }, torch.int64):as("input", "input_ids")
end

-- One optimizer step; see training.step.
function language_model.train_step(model, optimizer, p, input_ids)
  training.step(p, optimizer, nil, model, input_ids, input_ids)
end

-- The loss of one batch without gradients.
function language_model.evaluate(model, p, input_ids)
  phase "evaluation"
  torch.no_grad(torch.autocast, p.autocast, model, input_ids, input_ids)
end

-- A prompt, then tokens one at a time. The scenario's tokens are all the same: sizes are what counts.
function language_model.generate(model, p)
  local input_ids = language_model.ids(p.batch, p.prompt)
  local past = cache.DynamicCache(model.config)
  phase "prefill"
  local out = torch.no_grad(model, input_ids, nil, past)
  local token = language_model.ids(p.batch, 1)
  for _ = 1, p.new_tokens do
    phase "decode"
    out = torch.no_grad(model, token, nil, past)
  end
  return out
end

return language_model
