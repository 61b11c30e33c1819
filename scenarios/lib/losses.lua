-- losses.lua: what a script computes of a language model's outputs in place of the loss within the model: cross entropy of all
-- logits at once, of a chunk of the sequence at a time, or torch.nn.functional.linear_cross_entropy, which never has them all
-- (2.15, torch/nn/modules/linear_cross_entropy.py: its chunked path, policy "compact").
local F = use "functional"
local checkpoint = use "checkpoint"
local losses = {}

local function labels_of(input_ids)
  local l = torch.pad(input_ids, { 0, 1 })
  return l:slice(-1, 1):contiguous()
end

-- The part of a causal language model below its head.
local function body_of(model)
  local body = model.model or model.transformer or model.decoder or model.gpt_neox
  if not body or not model.lm_head then
    error("loss: this model has no head of its own; use loss=model or loss=full", 0)
  end
  return body
end

local function full(p, model)
  return function(x)
    local logits = model(x).logits
    if p.upcast_logits then
      logits = logits:float()
    end
    return F.cross_entropy(logits:view(-1, logits:size(-1)), labels_of(x):view(-1))
  end
end

local function chunked(p, model)
  local body, recompute = body_of(model), p.loss == "chunked_checkpoint"
  local function one(hc, lc)
    local logits = model.lm_head(hc)
    if p.upcast_logits then
      logits = logits:float()
    end
    return F.cross_entropy(logits:reshape(-1, logits:size(-1)), lc:reshape(-1), "sum")
  end
  return function(x)
    local h = body(x).last_hidden_state
    local l = labels_of(x)
    local total = 0.0
    local h_chunks, l_chunks = { h:chunk(p.loss_chunks, 1) }, { l:chunk(p.loss_chunks, 1) }
    for i = 1, #h_chunks do
      local hc, lc = h_chunks[i], l_chunks[i]
      if recompute then
        total = total + checkpoint.checkpoint(false, nil, one, hc, lc)
      else
        total = total + one(hc, lc)
      end
    end
    return total / l:numel()
  end
end

-- ---- linear_cross_entropy ----

local function power_of_two_from(n)
  local power = 1
  while power < n do
    power = power * 2
  end
  return power
end

-- LinearCrossEntropyOptions._adjust: rows a chunk, so that its logits take what the input takes
local function rows_of_chunk(rows, features, classes)
  local factor = (classes + features - 1) // features
  local chunk = math.min(power_of_two_from((rows + factor - 1) // factor), rows)
  local cap = rows * classes // (4 * features)
  local floor = power_of_two_from(cap + 1) // 2
  return math.max(1, math.min(chunk, cap >= 1 and floor or 1))
end

-- _neg_weight_target for "mean"
local function neg_weight_target(mask, dtype)
  local weight = mask:bitwise_not():to(dtype)
  local d = weight:sum()
  weight:div_(torch.where(d:eq(0), 0.0, -d))
  return weight
end

local function corrected_target(target)
  return torch.where(target:eq(-100), 0, target)
end

-- torch.mul(a, b, out=out): the operands live until it has run
local function mul_out(out, a, _)
  out:copy_(a)
end

-- held: an empty list that the caller holds, for the gradients that the forward has computed already
local function linear_forward(ctx, input, weight, target, held)
  local rows, features, classes = input:size(0), input:size(1), weight:size(0)
  local dtype = input.dtype
  local wide = dtype ~= torch.float32 -- accumulates in float32
  local logits_dtype = dtype == torch.float16 and dtype or torch.float32
  local chunk_rows = rows_of_chunk(rows, features, classes)
  local logits_buf = torch.empty({ chunk_rows, classes }, logits_dtype)
  local tmp = torch.empty({ chunk_rows }, logits_dtype)
  local output = torch.zeros({}, dtype == torch.bfloat16 and dtype or torch.float32)
  local wants_input, wants_weight = input.requires_grad, weight.requires_grad
  local grad_input = wants_input and torch.empty({ rows, features }, dtype) or nil
  local grad_weight = wants_weight and torch.zeros({ classes, features }, dtype) or nil
  local targets = corrected_target(target)
  local input_acc = wide and wants_weight and torch.empty({ chunk_rows, features }, torch.float32) or nil
  local mask, weights
  local softmax_denom, logits_downcast, temp
  for start = 0, rows - 1, chunk_rows do
    local n = math.min(chunk_rows, rows - start)
    local input_chunk, target_chunk = input:narrow(0, start, n), targets:narrow(0, start, n)
    local logits = logits_buf:narrow(0, 0, n)
    torch.mm_(logits, input_chunk, weight:t())
    if not weights then
      mask = target:eq(-100)
      weights = neg_weight_target(mask, torch.float32)
    end
    local weight_chunk = weights:narrow(0, start, n)
    output:add_(weight_chunk:dot(logits:gather(1, target_chunk:unsqueeze(1)):squeeze(1):to(torch.float32)))
    softmax_denom = logits:sum({ dim = 1, dtype = torch.float32 })
    output:sub_(weight_chunk:dot(softmax_denom))
    if wants_input then
      local grad_input_chunk = grad_input:narrow(0, start, n)
      logits_downcast = logits:to(dtype)
      mul_out(grad_input_chunk, weight:index(target_chunk), weight_chunk:to(dtype):unsqueeze(1))
      torch.mm_(grad_input_chunk, logits_downcast, weight)
    end
    if wants_weight then
      if not wants_input then
        logits_downcast = logits:to(dtype)
      end
      torch.mm_(grad_weight, logits_downcast:t(), input_chunk)
      if not wide and classes < features then
        temp = input_chunk * weight_chunk:unsqueeze(1)
      end
    end
  end
  held:append(grad_input or torch.empty({ 0 }, dtype))
  held:append(grad_weight or torch.empty({ 0 }, dtype))
  ctx.holds = held
  return output:to(dtype)
end

local LinearCrossEntropy = torch.autograd_function {
  name = "torch_nn::_linear_cross_entropy_batch_chunked",
  forward = linear_forward,
  backward = function(ctx, _, grad_output)
    local gi, gw = ctx.holds[1], ctx.holds[2]
    ctx.holds[1], ctx.holds[2] = nil, nil
    return gi:numel() > 0 and gi:mul_(grad_output) or nil, gw:numel() > 0 and gw:mul_(grad_output) or nil
  end,
}

local function linear(_, model)
  local body = body_of(model)
  return function(x)
    local h = body(x).last_hidden_state
    local l = labels_of(x)
    local held = torch.list()
    return LinearCrossEntropy(h:view(-1, h:size(-1)), model.lm_head.weight, l:view(-1), held)
  end
end

local makers = { full = full, chunked = chunked, chunked_checkpoint = chunked, linear = linear }

-- A function of input_ids that returns the loss; nil when the model has its own.
function losses.make(p, model)
  return p.loss ~= "model" and makers[p.loss](p, model) or nil
end

return losses
