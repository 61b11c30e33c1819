-- llama7b_swap.lua: LLaMA-7B on a card that is too small for it: what does not fit stays in host memory and crosses the
-- link for every token. The notes say what that does to the latency. The defaults fit an A4000 as they are; try --set
-- resident=4, --device A4000:link=25GB, or a smaller card: --device A4000:total=8GiB.
local llama = use "llama"
local nn = use "nn"
local offload = use "offload"
local generation = use "generation"

local p = parameters {
  { "hidden", 4096, "width of the residual stream", min = 1 },
  { "intermediate", 11008, "width of the MLP", min = 1 },
  { "layers", 32, "decoder layers", min = 1, max = 10000 },
  { "heads", 32, "attention heads", min = 1 },
  { "kv_heads", 0, "key/value heads; 0 = heads", min = 0 },
  { "vocab", 32000, "size of the vocabulary", min = 1 },
  { "batch", 1, "sequences", min = 1 },
  { "prompt", 512, "tokens of the prompt", min = 1 },
  { "new_tokens", 16, "tokens after it", min = 1, max = 1000000 },
  { "dtype", "fp16", "type of the weights", one_of = { "fp32", "bf16", "fp16" } },
  { "attention", "sdpa", "attention implementation", one_of = { "eager", "sdpa" } },
  { "resident", -1, "first layers that stay on the card; -1 = as many as fit", min = -1 },
  { "head_resident", false, "the head and the norm before it stay on the card where not all layers do" },
}
if p.kv_heads == 0 then
  p.kv_heads = p.heads
end
assert(p.hidden % p.heads == 0, "hidden must be a multiple of heads")
assert(p.heads % p.kv_heads == 0, "heads must be a multiple of kv_heads")

local element = p.dtype == "fp32" and 4 or 2
local device = torch.get_device_properties()

-- Bytes of a layer, of its part of the cache, and of what one call needs beside weights: a first guess for resident = -1.
local function sizes()
  local kv = p.hidden // p.heads * p.kv_heads
  local layer = (2 * p.hidden * p.hidden + 2 * p.hidden * kv + 3 * p.hidden * p.intermediate + 2 * p.hidden) * element
  local cache = 2 * p.batch * kv * (p.prompt + p.new_tokens) * element
  local call = p.batch * p.prompt * (3 * p.intermediate + 8 * p.hidden + p.vocab) * element
  return layer, cache, call
end

local function layers_that_fit()
  local layer, cache, call = sizes()
  local head = 2 * p.hidden * p.vocab * element
  local room = torch.memory_stats().free - call - head - layer - p.layers * cache
  return math.max(0, math.min(p.layers, room // layer))
end

local resident = p.resident >= 0 and math.min(p.resident, p.layers) or layers_that_fit()

local default = torch.set_default_device("cpu")
local model = llama.LlamaForCausalLM(p, p.dtype)
torch.set_default_device(default)
nn.train(model, false)

local offloaded = setmetatable({}, {})
if resident < p.layers then
  for i = resident, p.layers - 1 do
    offloaded[model.model.layers[i]] = true
  end
  offloaded[model.model.norm], offloaded[model.lm_head] = not p.head_resident, not p.head_resident
end
local bytes = offload.dispatch(model, function(module)
  return offloaded[module]
end, element)

begin_step(1)
local latency = generation.loop(p, model)
local copies = bytes / device.transfer_rate
note(string.format("%d of %d layers on the card; %.2f GB cross the link for every token", resident, p.layers, bytes / 1e9))
note(string.format("latency of a token: %.0f ms, %.0f ms of it the link at %.1f GB/s (estimates)", latency * 1e3, copies * 1e3,
  device.transfer_rate / 1e9))
if bytes > 0 then
  note(string.format("fits by swapping: %.1f times slower than with all of it on the card", latency / (latency - copies)))
end
