-- int8.lua: linear layers with weights of 8 bits, LLM.int8, as bitsandbytes 0.50 runs them (nn/modules.py, autograd/_functions.py,
-- backends/cuda/ops.py, backends/default/ops.py): inputs are quantized row by row at each call; columns with outliers are
-- taken out and multiplied in 16 bits. Which columns these are depends on values: the scenario says how many.
local nn = use "nn"
local int8 = {}

local function any_then_argwhere(outliers, count)
  outliers:any():item()
  return outliers:any(0):nonzero(count):view(-1)
end

-- int8_vectorwise_quant. columns: with outliers; nil: no threshold
local function vectorwise_quant(A, columns)
  local row_stats = torch.empty({ A:numel() // A:size(-1) }, torch.float32)
  local out_row = torch.empty(A.shape, torch.int8)
  local outlier_cols
  if columns then
    local outliers = A:abs():ge(6.0)
    outlier_cols = any_then_argwhere(outliers, columns)
  end
  return out_row, row_stats, outlier_cols
end

local function linear_matmul(A, B)
  local out = torch.empty({ A:size(0), B:size(0) }, torch.int32)
  if A:size(1) % 4 ~= 0 then -- cuBLASLt has no such product
    local result = torch.matmul(A:float(), B:float():t()):to(torch.int32)
    out:copy_(result)
  end
  return out
end

local function mm_dequant(A, dtype, bias)
  local out = torch.empty(A.shape, torch.float16)
  if bias and bias.dtype ~= torch.float16 then
    out:add_(bias)
  end
  return out:to(dtype)
end

local function scaled_mm(A, B, dtype, bias)
  local out_i32 = linear_matmul(A, B)
  return mm_dequant(out_i32, dtype, bias)
end

local function vectorwise_dequant(A, stats)
  return A * stats:view(-1, 1) * 7.874015718698502e-3
end

local function mixed_scaled_mm(A, CA, CB, SCB, outlier_cols, bias)
  local subA, subB
  if outlier_cols:numel() > 0 then
    subA = A:index(outlier_cols, 1)
    subB = vectorwise_dequant(CB:index(outlier_cols, 1), SCB):to(A.dtype):t()
  end
  local output = scaled_mm(CA, CB, A.dtype, bias)
  if subB then
    output = torch.addmm(output, subA, subB)
  end
  return output, subA
end

local function forward(A, layer, ctx)
  local input_shape = A.shape
  if #A.shape == 3 then
    A = A:reshape(-1, A:size(-1))
  end
  local CA, _, outlier_cols = vectorwise_quant(A:to(torch.float16), layer.outlier_columns)
  layer.idx[1] = outlier_cols
  local output, subA = mixed_scaled_mm(A, CA, layer.weight, layer.SCB, outlier_cols, layer.bias)
  if ctx then
    ctx.hold(A, subA, outlier_cols)
  end
  if #input_shape == 3 then
    output = output:reshape(input_shape[1], input_shape[2], layer.out_features)
  end
  return output
end

-- The weight is restored in the input's type for the backward; the input stays with the context.
local MatMul8bitLt = torch.autograd_function {
  name = "MatMul8bitLt",
  forward = function(ctx, A, layer)
    ctx.layer, ctx.dtype_A, ctx.grad_shape = layer, A.dtype, A.shape
    local output = forward(A, layer, ctx)
    return output
  end,
  backward = function(ctx, _, grad_output)
    local layer = ctx.layer
    if #grad_output.shape == 3 then
      grad_output = grad_output:reshape(-1, grad_output:size(-1)):contiguous()
    end
    local CB = layer.weight:to(ctx.dtype_A, true):mul_(layer.SCB:unsqueeze(1) * (1.0 / 127.0))
    local grad_A = torch.matmul(grad_output:to(ctx.dtype_A), CB):view(ctx.grad_shape)
    return grad_A
  end,
}

-- In place of a Linear layer of a model in host memory; its weight is quantized on the way to the device (nn.cuda).
int8.Linear8bitLt = nn.class()
function int8.Linear8bitLt:init(linear, outlier_columns)
  self.out_features, self.in_features = linear.weight:size(0), linear.weight:size(1)
  self.compute_dtype, self.adapter_dtype, self.outlier_columns = linear.weight.dtype, torch.float32, outlier_columns
  self.is_int8, self.idx = true, torch.keep(torch.list())
  self.weight = linear.weight
  self.weight.requires_grad = false
  if linear.bias then
    self.bias = linear.bias
    self.bias.requires_grad = false
  end
end
function int8.Linear8bitLt:move_weight()
  local B = torch.empty(self.weight.shape, torch.float16)
  local CB, SCB = vectorwise_quant(B)
  nn.set_data(self.weight, CB)
  self.SCB = nn.Buffer(SCB)
end
function int8.Linear8bitLt:forward(x)
  if self.bias and self.bias.dtype ~= x.dtype then
    nn.set_data(self.bias, torch.no_grad(torch.to, self.bias, x.dtype))
  end
  if torch.is_grad_enabled() and x.requires_grad then
    return MatMul8bitLt(x, self)
  end
  local output = torch.no_grad(forward, x, self)
  return output
end

return int8
