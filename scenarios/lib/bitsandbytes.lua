-- bitsandbytes.lua: weights of 4 bits and optimizer states of 8 as bitsandbytes 0.50 keeps them (functional.py, nn/modules.py,
-- autograd/_functions.py, optim/optimizer.py).
local nn = use "nn"
local base = use "optim_base"
local bitsandbytes = {}

local function blocks(n, blocksize)
  return (n + blocksize - 1) // blocksize
end

-- ---- weights of 4 bits ----

-- The dynamic map of 8 bits: made once a process.
local maps = setmetatable({ held = torch.keep(torch.list()) }, {})
local function dynamic_map()
  if #maps.held == 0 then
    maps.held:append(torch.empty({ 256 }, torch.float32))
  end
  return maps.held[1]
end

local function get_4bit_type()
  local data = torch.empty({ 16 }, torch.float32)
  data:div_(data:abs():max())
  return data
end

-- A of fp32 in blocks of 256: numbers, largest magnitudes, the map's copy
local function quantize_blockwise(A)
  local code = dynamic_map()
  local absmax = torch.empty({ blocks(A:numel(), 256) }, torch.float32)
  local out = torch.empty({ A:numel() }, torch.uint8)
  return out, absmax, code:clone()
end

-- quantize_4bit in blocks of 64. Returns the packed numbers and their state; with compress_statistics the blocks' largest
-- magnitudes are quantized once more.
local function quantize_4bit(A, compress_statistics)
  local absmax = torch.empty({ blocks(A:numel(), 64) }, torch.float32)
  local out = torch.empty({ (A:numel() + 1) // 2, 1 }, torch.uint8)
  local state = { code = get_4bit_type() }
  if compress_statistics then
    state.offset = absmax:mean()
    state.absmax, state.absmax2, state.code2 = quantize_blockwise(absmax - state.offset)
  else
    state.absmax = absmax
  end
  return out, state
end

local function dequantize_4bit(weight, layer, dtype)
  local absmax = layer.absmax
  if layer.offset then
    absmax = torch.empty({ absmax:numel() }, torch.float32)
    absmax:add_(layer.offset)
  end
  local out = torch.empty({ layer.out_features, layer.in_features }, dtype)
  return out
end

-- Nothing of A is kept; the weight is restored for the backward.
local MatMul4Bit = torch.autograd_function {
  name = "MatMul4Bit",
  forward = function(ctx, A, layer)
    ctx.layer = layer
    return torch.gemm_4bit(A, layer.weight, layer.absmax, layer.out_features, layer.offset)
  end,
  backward = function(ctx, _, grad_output)
    return torch.matmul(grad_output, dequantize_4bit(ctx.layer.weight, ctx.layer, ctx.layer.dtype):to(grad_output.dtype))
  end,
}

-- In place of a Linear layer of a model in host memory; its weight is quantized on the way to the device (nn.cuda).
bitsandbytes.Linear4bit = nn.class()
function bitsandbytes.Linear4bit:init(linear, compress_statistics, compute_dtype)
  assert(not linear.bias, "Linear4bit: a bias is not modelled")
  self.out_features, self.in_features = linear.weight:size(0), linear.weight:size(1)
  self.dtype, self.compute_dtype, self.compress_statistics = linear.weight.dtype, compute_dtype, compress_statistics
  self.weight = linear.weight
  self.weight.requires_grad = false
end
function bitsandbytes.Linear4bit:move_weight()
  local w = self.weight:cuda()
  local w_4bit, quant_state = quantize_4bit(w, self.compress_statistics)
  nn.set_data(self.weight, w_4bit)
  for name, tensor in pairs(quant_state) do
    self[name] = nn.Buffer(tensor)
  end
end
function bitsandbytes.Linear4bit:forward(x)
  local inp_dtype = x.dtype
  x = x:to(self.compute_dtype)
  if torch.is_grad_enabled() and x.requires_grad then
    return MatMul4Bit(x, self):to(inp_dtype)
  end
  return torch.gemm_4bit(x, self.weight, self.absmax, self.out_features, self.offset):to(inp_dtype)
end

-- Every linear layer of `module` but those that keep(name) names becomes make(layer).
function bitsandbytes.replace_linears(module, make, keep)
  for _, name in ipairs(module._members) do
    local member = module[name]
    if type(member) == "table" then
      if member.is_linear and not keep(name) then
        module[name] = make(member)
      else
        bitsandbytes.replace_linears(member, make, keep)
      end
    end
  end
end

-- ---- optimizer states of 8 bits, paged ones ----

-- get_state_buffer: managed memory, outside the device's allocator, for large paged states
local function state_buffer(self, p, dtype)
  if not self.options.is_paged or p:numel() < 1e5 then
    return torch.zeros(p.shape, dtype)
  end
  local default = torch.set_default_device("cpu")
  local buffer = torch.zeros(p.shape, dtype)
  torch.set_default_device(default)
  return buffer
end

-- Optimizer2State.init_state: small parameters keep states of fp32; the maps are the optimizer's, made with the first
-- state of 8 bits.
local function init_state(self, i, p)
  local n = p:numel()
  if self.options.optim_bits == 32 or n < 4096 then
    base.set_state(self, i, "state1", state_buffer(self, p, torch.float32))
    base.set_state(self, i, "state2", state_buffer(self, p, torch.float32))
    return
  end
  if #self.maps == 0 then
    self.maps:append(torch.empty({ 256 }, torch.float32):as("optimizer_state", "qmap1"))
    self.maps:append(torch.empty({ 256 }, torch.float32):as("optimizer_state", "qmap2"))
  end
  base.set_state(self, i, "state1", state_buffer(self, p, torch.uint8))
  base.set_state(self, i, "state2", state_buffer(self, p, torch.uint8))
  base.set_state(self, i, "absmax1", torch.zeros({ blocks(n, 256) }, torch.float32))
  base.set_state(self, i, "absmax2", torch.zeros({ blocks(n, 256) }, torch.float32))
end

-- One kernel a parameter, in place.
local function step(self)
  base.init_group(self, {}, init_state)
end

-- options: optim_bits is_paged
function bitsandbytes.AdamW(params, options)
  local self = base.new(params, options, step)
  self.maps = torch.keep(torch.list())
  return self
end

return bitsandbytes
