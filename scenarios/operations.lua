-- operations.lua: one operation forward and backward, again and again, as Liger-Kernel's benchmarks run it: as Transformers
-- has it, or as Liger-Kernel has it. A step is one call; gradients of the calls before stay (nothing zeroes them).
local nn = use "nn"
local F = use "functional"
local liger = use "liger"
local llama = use "llama"
local hf = use "hf"

local p = parameters {
  { "op", "cross_entropy", "operation", one_of = { "cross_entropy", "fused_linear_cross_entropy", "swiglu", "geglu", "rms_norm",
    "layer_norm", "rope" } },
  { "impl", "torch", "whose", one_of = { "torch", "liger" } },
  { "rows", 16384, "rows: tokens of the batch", min = 1 },
  { "batch", 1, "swiglu, geglu: sequences, of rows / batch tokens each", min = 1 },
  { "hidden", 4096, "width", min = 1 },
  { "intermediate", 11008, "swiglu, geglu: width of the MLP", min = 1 },
  { "vocab", 32000, "classes of the losses", min = 1 },
  { "heads", 32, "rope: heads of the queries", min = 1 },
  { "kv_heads", 8, "rope: heads of the keys", min = 1 },
  { "multiprocessors", 108, "layer_norm by Liger-Kernel: of the card", min = 1 },
  { "dtype", "bf16", "type of the tensors", one_of = { "fp32", "bf16", "fp16" } },
  { "steps", 4, "calls", min = 1 },
}
assert(p.rows % p.batch == 0, "rows must be a multiple of batch")
assert(p.hidden % p.heads == 0, "hidden must be a multiple of heads")

-- What torch.randn(requires_grad=True) gives.
local function leaf(shape, dtype)
  local x = torch.empty(shape, dtype)
  x.requires_grad = true
  return x
end

local function in_type(class, dtype, ...)
  local default = torch.set_default_dtype(dtype)
  local module = class(...)
  torch.set_default_dtype(default)
  nn.name(module)
  return module
end

-- PyTorch's own linear and loss
local LinearLoss = nn.class()
function LinearLoss:init()
  self.lin = nn.Linear(p.hidden, p.vocab, false)
end
function LinearLoss:forward(x, target)
  local logits = self.lin(x)
  return F.cross_entropy(logits, target)
end
local LigerLinearLoss = nn.class()
function LigerLinearLoss:init()
  self.lin = nn.Linear(p.hidden, p.vocab, false)
end
function LigerLinearLoss:forward(x, target)
  return liger.fused_linear_cross_entropy(x, self.lin.weight, target)
end

local function loop(full)
  for i = 1, p.steps do
    begin_step(i)
    full()
  end
end

local run = {}

function run.cross_entropy()
  local input = leaf({ p.rows, p.vocab }, p.dtype)
  local target = torch.zeros({ p.rows }, torch.int64)
  local loss = p.impl == "liger" and liger.cross_entropy or F.cross_entropy
  loop(function()
    phase "forward"
    local y = loss(input, target)
    phase "backward"
    y:backward()
  end)
end

-- Both layers are built, whichever runs; the handles of both threads have had their products before.
function run.fused_linear_cross_entropy()
  local torch_layer = in_type(LinearLoss, p.dtype)
  local liger_layer = in_type(LigerLinearLoss, p.dtype)
  local warm_up = leaf({ 16, 16 }, p.dtype)
  torch.matmul(warm_up, warm_up):sum():backward()
  warm_up = nil
  local input = leaf({ p.rows, p.hidden }, p.dtype)
  local target = torch.zeros({ p.rows }, torch.int64)
  local layer = p.impl == "liger" and liger_layer or torch_layer
  loop(function()
    phase "forward"
    local y = layer(input, target)
    phase "backward"
    y:backward()
  end)
end

local function glu(activation)
  local x = leaf({ p.batch, p.rows // p.batch, p.hidden }, p.dtype)
  local layer
  if p.impl == "liger" then
    layer = in_type(liger.GLUMLP, p.dtype, p.hidden, p.intermediate)
  else
    layer = in_type(llama.MLP, p.dtype, { hidden = p.hidden, intermediate = p.intermediate, activation = activation })
  end
  loop(function()
    phase "forward"
    local y = layer(x)
    phase "backward"
    y:backward(torch.ones_like(y), true)
  end)
end
function run.swiglu()
  glu "silu"
end
function run.geglu()
  glu "gelu_pytorch_tanh"
end

local function norm(liger_class, torch_class, ...)
  local liger_norm = in_type(liger_class, "fp32", p.hidden, ...)
  local torch_norm = in_type(torch_class, "fp32", p.hidden)
  local x = leaf({ p.rows, p.hidden }, p.dtype)
  local dy = torch.empty({ p.rows, p.hidden }, p.dtype)
  local layer = p.impl == "liger" and liger_norm or torch_norm
  loop(function()
    phase "forward"
    local y = layer(x)
    phase "backward"
    y:backward(dy, true)
  end)
end
function run.rms_norm()
  norm(liger.RMSNorm, llama.RMSNorm)
end
function run.layer_norm()
  norm(liger.LayerNorm, nn.LayerNorm, p.multiprocessors)
end

function run.rope()
  local dim = p.hidden // p.heads
  local function heads(count)
    local x = torch.empty({ 1, p.rows, count, dim }, p.dtype):transpose(1, 2)
    return x
  end
  local q, k, dq, dk = heads(p.heads), heads(p.kv_heads), heads(p.heads), heads(p.kv_heads)
  q.requires_grad, k.requires_grad = true, true
  local pos_ids = torch.arange(p.rows):unsqueeze(0)
  local inv_freq = torch.empty({ dim // 2 }, torch.float32)
  local freqs = torch.matmul(inv_freq:view(1, -1, 1), pos_ids:unsqueeze(1):float()):transpose(1, 2)
  local emb = torch.cat({ freqs, freqs }, -1)
  local cos, sin = emb:cos():to(p.dtype), emb:sin():to(p.dtype)
  freqs, emb = nil, nil
  local apply = p.impl == "liger" and liger.rope or llama.apply_rotary_pos_emb
  -- torch.autograd.grad of two roots with gradients given
  local both = torch.autograd_function {
    name = "GraphRoot",
    forward = function(_, _, _)
      local root = torch.empty({}, p.dtype)
      return root
    end,
    backward = function()
      return dq, dk
    end,
  }
  loop(function()
    phase "forward"
    local q_out, k_out = apply(q, k, cos, sin)
    phase "backward"
    both(q_out, k_out):backward()
    q.grad, k.grad = nil, nil
  end)
end

run[p.op]()
