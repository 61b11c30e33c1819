-- liger.lua: the functions of Liger-Kernel (0.2.1; the fused loss of 0.4.2), in PyTorch's eyes: what they allocate, save and
-- return. Their Triton kernels ask for no memory; where one writes its result over an input, nothing stands here for it.
local nn = use "nn"
local liger = {}

-- The gradient is written over the logits in the forward.
liger.cross_entropy = torch.autograd_function {
  name = "LigerCrossEntropyFunction",
  forward = function(ctx, input, target)
    local loss_1d = torch.zeros({ input:size(0) }, input.dtype)
    local n_non_ignore = torch.ne(target, -100):sum():item()
    local loss = torch.sum(loss_1d) / 1
    ctx.save_for_backward(input:detach())
    return loss
  end,
  backward = function(_, saved)
    return saved[1]
  end,
}

local function next_power_of_2(n)
  local power = 1
  while power < n do
    power = power * 2
  end
  return power
end

-- A linear layer and its loss in chunks of rows: both gradients are made in the forward.
liger.fused_linear_cross_entropy = torch.autograd_function {
  name = "LigerFusedLinearCrossEntropyFunction",
  forward = function(ctx, input, weight, target)
    local rows, width, vocab = input:size(0), input:size(1), weight:size(0)
    local inc_factor = (vocab + width - 1) // width
    local chunk_size = next_power_of_2((rows + inc_factor - 1) // inc_factor)
    local grad_weight = torch.zeros_like(weight)
    local grad_input = torch.zeros_like(input)
    local loss_1d = torch.zeros({ rows }, torch.float32)
    local total_n_non_ignore = torch.ne(target, -100):sum()
    local input_chunk, logits_chunk, target_chunk, loss_1d_slice, alpha, grad_logits_chunk
    for start = 0, rows - 1, chunk_size do
      local stop = math.min(start + chunk_size, rows)
      input_chunk = input:slice(0, start, stop)
      logits_chunk = torch.matmul(input_chunk, weight:t())
      target_chunk = target:slice(0, start, stop)
      loss_1d_slice = loss_1d:slice(0, start, stop)
      torch.ne(target_chunk, -100):sum():item()
      logits_chunk = logits_chunk:float()
      logits_chunk = logits_chunk:to(input.dtype)
      torch.gt(total_n_non_ignore, 0):item()
      alpha = torch.reciprocal(total_n_non_ignore) * chunk_size -- an int over a tensor
      loss_1d:slice(0, start, stop):copy_(loss_1d_slice * alpha)
      grad_logits_chunk = logits_chunk * alpha
      grad_input:slice(0, start, stop):copy_(torch.matmul(grad_logits_chunk, weight))
      -- addmm(grad_weight, logits_chunk.t(), input_chunk, out=grad_weight) asks for nothing
    end
    local loss = torch.sum(loss_1d)
    ctx.save_for_backward(grad_input:detach(), grad_weight:detach())
    return loss
  end,
  backward = function(_, saved, grad_output)
    torch.ne(grad_output, 1.0):item()
    return saved[1], saved[2]
  end,
}

-- act(a) * b; the gradients are written over both.
liger.activation_mul = torch.autograd_function {
  name = "LigerSiLUMulFunction",
  forward = function(ctx, a, b)
    ctx.save_for_backward(a, b)
    local c = torch.zeros_like(a)
    return c
  end,
  backward = function(_, saved)
    return saved[1], saved[2]
  end,
}

-- SwiGLU and GEGLU
liger.GLUMLP = nn.class()
function liger.GLUMLP:init(hidden, intermediate)
  self.gate_proj = nn.Linear(hidden, intermediate, false)
  self.up_proj = nn.Linear(hidden, intermediate, false)
  self.down_proj = nn.Linear(intermediate, hidden, false)
end
function liger.GLUMLP:forward(x)
  return self.down_proj(liger.activation_mul(self.gate_proj(x), self.up_proj(x)))
end

-- The input's gradient is written over the output's.
local rms_norm = torch.autograd_function {
  name = "LigerRMSNormFunction",
  forward = function(ctx, x, weight)
    local y = torch.empty(x.shape, x.dtype)
    local r = torch.empty({ x:size(0) }, torch.float32)
    ctx.save_for_backward(x, weight, r)
    return y
  end,
  backward = function(_, saved, dy)
    local dw = torch.empty(saved[1].shape, saved[2].dtype)
    dw = torch.sum(dw, 0)
    local dx = dy:view(dy.shape)
    return dx, dw
  end,
}

-- A row of partial sums for each multiprocessor.
local layer_norm = torch.autograd_function {
  name = "LigerLayerNormFunction",
  forward = function(ctx, x, weight, bias, multiprocessors)
    local y = torch.empty(x.shape, x.dtype)
    local mean = torch.empty({ x:size(0) }, x.dtype)
    local rstd = torch.empty({ x:size(0) }, x.dtype)
    ctx.multiprocessors = multiprocessors
    ctx.save_for_backward(x, weight, bias, mean, rstd)
    return y
  end,
  backward = function(ctx, saved)
    local dx = torch.empty(saved[1].shape, saved[1].dtype)
    local partial_dw = torch.empty({ ctx.multiprocessors, saved[1]:size(1) }, saved[2].dtype)
    local partial_db = torch.empty({ ctx.multiprocessors, saved[1]:size(1) }, saved[2].dtype)
    local dw = torch.sum(partial_dw, 0)
    local db = torch.sum(partial_db, 0)
    return dx, dw, db
  end,
}

liger.RMSNorm = nn.class()
function liger.RMSNorm:init(hidden_size)
  self.weight = nn.Parameter(torch.ones({ hidden_size }))
end
function liger.RMSNorm:forward(x)
  return rms_norm(x, self.weight)
end

liger.LayerNorm = nn.class()
function liger.LayerNorm:init(hidden_size, multiprocessors)
  self.multiprocessors = multiprocessors
  self.weight = nn.Parameter(torch.ones({ hidden_size }))
  self.bias = nn.Parameter(torch.zeros({ hidden_size }))
end
function liger.LayerNorm:forward(x)
  return layer_norm(x, self.weight, self.bias, self.multiprocessors)
end

-- Rotation in place, forward and backward: q and k lie as (batch, seq, heads, dim) under a transpose.
liger.rope = torch.autograd_function {
  name = "LigerRopeFunction",
  forward = function(ctx, q, k, cos, sin)
    q = q:transpose(1, 2):contiguous()
    k = k:transpose(1, 2):contiguous()
    ctx.save_for_backward(cos, sin)
    return q:transpose(1, 2), k:transpose(1, 2)
  end,
  backward = function(_, _, dq, dk)
    dq = dq:transpose(1, 2):contiguous()
    dk = dk:transpose(1, 2):contiguous()
    return dq:transpose(1, 2), dk:transpose(1, 2)
  end,
}

return liger
