-- lit_gpt_training.lua: what LitGPT's scripts do with a model of lit_gpt.lua: adapters alone are trained, Fabric around it, the
-- loss in chunks (lit_gpt/lora.py, utils.py).
local nn = use "nn"
local lit_gpt_training = {}

-- mark_only_lora_as_trainable
function lit_gpt_training.freeze(model)
  nn.each_module(model, function(module)
    for _, key in ipairs(module._members) do
      if type(module[key]) == "userdata" and key ~= "lora_A" and key ~= "lora_B" then
        module[key].requires_grad = false
      end
    end
  end)
end

-- Fabric's module: the outputs in float32
function lit_gpt_training.fabric(model, ...)
  local output = model(...)
  if type(output) == "table" then
    local converted = {}
    for i, chunk in ipairs(output) do
      converted[i] = chunk:float()
    end
    return converted
  end
  output = output:float()
  return output
end

-- nll_loss(reduction="none")
local nll_loss_none = torch.autograd_function {
  name = "NllLoss",
  forward = function(ctx, log_probabilities, target)
    local output = torch.empty({ log_probabilities:size(0) }, log_probabilities.dtype)
    local total_weight = torch.empty({}, log_probabilities.dtype)
    ctx.save_for_backward(log_probabilities, target, total_weight)
    return output
  end,
  backward = function(_, saved, grad_output)
    local grad_input = torch.zeros_like(saved[1])
    grad_output = grad_output:contiguous()
    return grad_input, nil
  end,
}
local function cross_entropy_none(input, target)
  local log_probabilities = torch.log_softmax(input, 1, input.dtype)
  return nll_loss_none(log_probabilities, target)
end

-- lit_gpt/utils.py, of chunks or of one tensor: their mean, later over what is not masked
function lit_gpt_training.chunked_cross_entropy(version, logits, targets, chunk_size)
  local logit_chunks, target_chunks, loss_chunks = {}, nil, {}
  if type(logits) == "table" then
    for i, chunk in ipairs(logits) do
      logit_chunks[i] = chunk:reshape(-1, chunk:size(-1))
    end
    target_chunks = { targets:split(logits[1]:size(1), 1) }
    for i, chunk in ipairs(target_chunks) do
      target_chunks[i] = chunk:reshape(-1)
    end
  else
    logits = logits:reshape(-1, logits:size(-1))
    targets = targets:reshape(-1)
    logit_chunks = { logits:split(chunk_size) }
    target_chunks = { targets:split(chunk_size) }
  end
  for i = 1, #logit_chunks do
    loss_chunks[i] = cross_entropy_none(logit_chunks[i], target_chunks[i])
  end
  if version < "2024" then
    return torch.cat(loss_chunks):mean()
  end
  local non_masked_elems = torch.ne(targets, -100):sum()
  if version == "2024-04" then
    local sum = torch.cat(loss_chunks):sum()
    torch.gt(non_masked_elems, 1):item()
    return sum / non_masked_elems
  end
  return torch.cat(loss_chunks):sum() / torch.maximum(non_masked_elems, torch.ones_like(non_masked_elems))
end

return lit_gpt_training
