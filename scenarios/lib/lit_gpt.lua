-- lit_gpt.lua: Lightning's LitGPT (lit_gpt/config.py and model.py, later litgpt/), name by name, as it was on four days; its
-- adapters: lit_gpt_lora.lua, what its scripts do: lit_gpt_training.lua.
--   2023-09   commit 29de282, of its remarks on memory: one key/value head is not repeated
--   2023-10   commit 0cc02af, of its resource tables
--   2024-04   commit 5895df10, of the first table of its configuration hub
--   2024-09   commit 00af8b0d, of the last one
-- A model runs in Fabric with precision bf16-true: what it returns is cast to float32.
local nn = use "nn"
local layers = use "lit_gpt_lora"
local LoRALinear, LoRAQKVLinear = layers.LoRALinear, layers.LoRAQKVLinear
local litgpt = {}

-- lit_gpt/config.py: the models, with what differs from the defaults
local defaults = {
  block_size = 4096, n_layer = 16, n_head = 32, n_embd = 4096, rotary_percentage = 0.25, parallel_residual = true, bias = true,
  lm_head_bias = false, shared_attention_norm = false, norm = "LayerNorm", mlp = "GptNeoxMLP", scale_embeddings = false,
}
local function llama(config)
  config.rotary_percentage, config.parallel_residual, config.bias = 1.0, false, false
  config.norm, config.mlp = "RMSNorm", config.mlp or "LLaMAMLP"
  return config
end
litgpt.models = {
  ["stablelm-base-alpha-3b"] = { vocab = 50688 },
  ["falcon-7b"] = { block_size = 2048, vocab = 65024, n_layer = 32, n_head = 71, n_embd = 4544, rotary_percentage = 1.0,
    n_query_groups = 1, bias = false, shared_attention_norm = true },
  ["phi-1_5"] = { block_size = 2048, vocab = 51200, n_embd = 2048, n_layer = 24, rotary_percentage = 0.5,
    shared_attention_norm = true, lm_head_bias = true },
  ["phi-2"] = { block_size = 2048, vocab = 51200, n_embd = 2560, n_layer = 32, rotary_percentage = 0.4,
    shared_attention_norm = true, lm_head_bias = true },
  ["Llama-2-7b"] = llama { vocab = 32000, n_layer = 32, intermediate = 11008 },
  ["Llama-2-13b"] = llama { vocab = 32000, n_layer = 40, n_head = 40, n_embd = 5120, intermediate = 13824 },
  ["Llama-3-8B"] = llama { block_size = 8192, vocab = 128256, n_layer = 32, n_query_groups = 8, intermediate = 14336 },
  ["Llama-3.2-1B"] = llama { block_size = 8192, vocab = 128256, n_embd = 2048, n_query_groups = 8, intermediate = 8192 },
  ["Llama-3.2-3B"] = llama { block_size = 8192, vocab = 128256, n_layer = 28, n_embd = 3072, n_head = 24, n_query_groups = 8,
    intermediate = 8192 },
  ["Mistral-7B-v0.1"] = llama { vocab = 32000, n_layer = 32, n_query_groups = 8, intermediate = 14336 },
  ["tiny-llama-1.1b"] = llama { block_size = 2048, vocab = 32000, n_layer = 22, n_embd = 2048, n_query_groups = 4,
    intermediate = 5632 },
  ["Gemma-2b"] = llama { vocab = 256000, n_embd = 2048, n_layer = 18, n_head = 8, n_query_groups = 1, intermediate = 16384,
    mlp = "GemmaMLP", scale_embeddings = true },
  ["Gemma-2-2b"] = llama { block_size = 8192, vocab = 256000, n_embd = 2304, n_layer = 26, n_head = 8, n_query_groups = 4,
    head_size = 256, intermediate = 9216, mlp = "GemmaMLP", scale_embeddings = true, has_post_norms = true, softcap = 50.0,
    sliding_window = 4096 },
  ["Phi-3-mini-4k-instruct"] = llama { vocab = 32064, n_embd = 3072, n_layer = 32, intermediate = 8192 },
}
litgpt.sizes = { "n_layer", "n_embd", "n_head", "n_query_groups", "intermediate", "vocab", "block_size", "rope_n_elem" }
litgpt.names = {}
for name in pairs(litgpt.models) do
  litgpt.names[#litgpt.names + 1] = name
end

-- The config of a model; lora: r, dropout and which layers have adapters (query key value projection mlp head).
-- given: numbers in place of the model's own; 0 is none.
function litgpt.config(name, version, lora, given)
  local config = { version = version, lora = lora }
  for key, value in pairs(defaults) do
    config[key] = value
  end
  for key, value in pairs(litgpt.models[name]) do
    config[key] = value
  end
  for _, key in ipairs(litgpt.sizes) do
    if given[key] > 0 then
      config[key] = given[key]
    end
  end
  config.head_size = config.head_size or config.n_embd // config.n_head
  config.n_query_groups = config.n_query_groups or config.n_head
  config.intermediate = config.intermediate or 4 * config.n_embd
  config.rope_n_elem = config.rope_n_elem or math.floor(config.rotary_percentage * config.head_size + 1e-9)
  return setmetatable(config, {})
end

local RMSNorm = nn.class()
function RMSNorm:init(size, version)
  self.version = version
  self.weight = nn.Parameter(torch.ones({ size }))
end
function RMSNorm:forward(x)
  if self.version == "2023-09" then
    local norm_x = torch.mean(x * x, -1, true)
    local x_normed = x * torch.rsqrt(norm_x + 1e-5)
    return self.weight * x_normed
  end
  local dtype = x.dtype
  x = x:float()
  local norm_x = torch.mean(x * x, -1, true)
  local x_normed = x * torch.rsqrt(norm_x + 1e-5)
  if self.version == "2023-10" then
    return (self.weight * x_normed):to(dtype)
  elseif self.version == "2024-04" then
    x_normed = x_normed:to(dtype)
    return x_normed * self.weight
  end
  return (x_normed * self.weight:float()):to(dtype)
end

local function norm_class(config)
  if config.norm == "RMSNorm" then
    return RMSNorm(config.n_embd, config.version)
  end
  return nn.LayerNorm(config.n_embd)
end

local function apply_rope(x, cos, sin)
  local head_size = x:size(-1)
  local x1 = x:slice(-1, nil, head_size // 2)
  local x2 = x:slice(-1, head_size // 2)
  local rotated = torch.cat({ -x2, x1 }, -1)
  local roped = (x * cos) + (rotated * sin)
  return roped:to(x.dtype)
end

local function build_rope_cache(seq_len, n_elem)
  local theta = 1.0 / torch.pow(10000, torch.arange(0, n_elem, 2):float() / n_elem)
  local seq_idx = torch.arange(seq_len) / 1
  local idx_theta = seq_idx:reshape(seq_len, 1) * theta -- torch.outer
  idx_theta = torch["repeat"](idx_theta, 1, 2)
  return torch.cos(idx_theta), torch.sin(idx_theta)
end

local KVCache = nn.class()
function KVCache:init(k_shape, v_shape)
  self.k = nn.Buffer(torch.zeros(k_shape))
  self.v = nn.Buffer(torch.zeros(v_shape))
end
function KVCache:forward(input_pos, k, v)
  k = self.k:index_copy_(2, input_pos, k)
  v = self.v:index_copy_(2, input_pos, v)
  return k, v
end

local CausalSelfAttention = nn.class()
function CausalSelfAttention:init(config, block_idx)
  self.config = config
  self.has_window = config.sliding_window ~= nil and block_idx % 2 == 0
  self.attn = LoRAQKVLinear(config)
  self.proj = LoRALinear(config, config.head_size * config.n_head, config.n_embd, config.bias, config.lora and config.lora.projection)
end
function CausalSelfAttention:forward(x, cos, sin, mask, input_pos)
  local config = self.config
  local B, T = x:size(0), x:size(1)
  local hs, groups = config.head_size, config.n_query_groups
  local qkv = self.attn(x)
  local q_per_kv = config.n_head // groups
  local total_qkv = q_per_kv + 2
  qkv = qkv:view(B, T, groups, total_qkv, hs)
  qkv = qkv:permute(0, 2, 3, 1, 4)
  local q, k, v = qkv:split_with_sizes({ q_per_kv, 1, 1 }, 2)
  local expands = groups ~= config.n_head and (not input_pos or groups ~= 1)
  if config.version == "2023-09" then
    expands = groups ~= 1
  end
  if expands then
    k = k:expand(B, groups, q_per_kv, T, hs)
    v = v:expand(B, groups, q_per_kv, T, hs)
  end
  q = q:reshape(B, -1, T, hs)
  k = k:reshape(B, -1, T, hs)
  v = v:reshape(B, -1, T, hs)
  local n = config.rope_n_elem
  local q_roped = apply_rope(q:slice(-1, nil, n), cos, sin)
  local k_roped = apply_rope(k:slice(-1, nil, n), cos, sin)
  q = torch.cat({ q_roped, q:slice(-1, n) }, -1)
  k = torch.cat({ k_roped, k:slice(-1, n) }, -1)
  if input_pos then
    k, v = self.kv_cache(input_pos, k, v)
  end
  if self.has_window then
    if not mask then
      mask = torch.ones({ T, T }, q.dtype):triu(1)
      mask:fill_()
    end
    local sliding_window_bias = torch.tril(torch.ones_like(mask), -config.sliding_window)
    sliding_window_bias:fill_()
    mask = mask:add_(sliding_window_bias)
  end
  local y = self:scaled_dot_product_attention(q, k, v, mask)
  y = y:reshape(B, T, hs * config.n_head)
  return self.proj(y)
end
-- What PyTorch 2.1 does with heads that must be repeated (_scaled_dot_product_attention_math of that release).
local function attention_math(query, key, value)
  query = query * 1.0
  local attn_mask = torch.ones({ query:size(2), key:size(2) }, torch.bool):tril()
  attn_mask = torch.where(attn_mask, 0.0, -1.0):to(query.dtype)
  local attn = torch.matmul(query, key:transpose(-2, -1) * 1.0)
  attn:add_(attn_mask)
  attn = torch.softmax(attn, -1)
  return torch.matmul(attn, value)
end

-- softcapping: no fused kernel
function CausalSelfAttention:softcapped_attention(q, k, v, mask)
  local softcap = self.config.softcap
  local scores = torch.matmul(q, k:transpose(-2, -1)) * 1.0
  scores = torch.tanh(scores / softcap) * softcap
  if not mask then
    mask = torch.ones({ q:size(2), q:size(2) }, q.dtype):triu(1)
    mask:fill_()
  end
  scores = scores + mask
  scores = torch.softmax(scores, -1, torch.float32):to(q.dtype)
  return torch.matmul(scores, v)
end

function CausalSelfAttention:scaled_dot_product_attention(q, k, v, mask)
  if self.config.softcap then
    return self:softcapped_attention(q, k, v, mask):transpose(1, 2)
  end
  if q:size(1) ~= k:size(1) and not mask then
    return attention_math(q, k, v):transpose(1, 2)
  end
  local y = torch.scaled_dot_product_attention(q, k, v, mask, mask == nil)
  return y:transpose(1, 2)
end

local MLP = {}
MLP.GptNeoxMLP = nn.class()
function MLP.GptNeoxMLP:init(config)
  local adapted = config.lora and config.lora.mlp
  self.fc = LoRALinear(config, config.n_embd, config.intermediate, config.bias, adapted)
  self.proj = LoRALinear(config, config.intermediate, config.n_embd, config.bias, adapted)
end
function MLP.GptNeoxMLP:forward(x)
  x = self.fc(x)
  x = torch.gelu(x)
  return self.proj(x)
end
local function gated(activation)
  local class = nn.class()
  function class:init(config)
    local adapted = config.lora and config.lora.mlp
    self.fc_1 = LoRALinear(config, config.n_embd, config.intermediate, config.bias, adapted)
    self.fc_2 = LoRALinear(config, config.n_embd, config.intermediate, config.bias, adapted)
    self.proj = LoRALinear(config, config.intermediate, config.n_embd, config.bias, adapted)
  end
  function class:forward(x)
    local x_fc_1 = self.fc_1(x)
    local x_fc_2 = self.fc_2(x)
    x = torch[activation](x_fc_1) * x_fc_2
    return self.proj(x)
  end
  return class
end
MLP.LLaMAMLP, MLP.GemmaMLP = gated "silu", gated "gelu"

local Block = nn.class()
function Block:init(config, block_idx)
  self.config = config
  self.norm_1 = norm_class(config)
  self.attn = CausalSelfAttention(config, block_idx)
  if config.has_post_norms then
    self.post_attention_norm = norm_class(config)
    self.post_mlp_norm = norm_class(config)
  end
  if not config.shared_attention_norm then
    self.norm_2 = norm_class(config)
  end
  self.mlp = MLP[config.mlp](config)
end
function Block:forward(x, cos, sin, mask, input_pos)
  local config = self.config
  local n_1 = self.norm_1(x)
  local h = self.attn(n_1, cos, sin, mask, input_pos)
  if config.parallel_residual then
    n_1 = config.shared_attention_norm and n_1 or self.norm_2(x)
    x = self.mlp(n_1) + h + x
  elseif config.has_post_norms then
    h = self.post_attention_norm(h)
    x = h + x
    x = self.post_mlp_norm(self.mlp(self.norm_2(x))) + x
  else
    x = h + x
    x = self.mlp(self.norm_2(x)) + x
  end
  return x
end

litgpt.GPT = nn.class()
function litgpt.GPT:init(config)
  self.config = config
  self.lm_head = LoRALinear(config, config.n_embd, config.vocab, config.lm_head_bias, config.lora and config.lora.head)
  self.wte = nn.Embedding(config.vocab, config.n_embd)
  local blocks = {}
  for i = 1, config.n_layer do
    blocks[i] = Block(config, i - 1)
  end
  self.h = nn.ModuleList(blocks)
  self.ln_f = norm_class(config)
  local cos, sin = build_rope_cache(config.block_size, config.rope_n_elem)
  self.cos, self.sin = nn.Buffer(cos), nn.Buffer(sin)
end
-- Fabric casts the whole module; what has the type stays.
function litgpt.convert(model, dtype)
  for _, name in ipairs { "cos", "sin" } do
    nn.set_data(model[name], torch.no_grad(torch.to, model[name], dtype))
  end
end
-- The cache of angles is made anew, in float32.
function litgpt.GPT:set_max_seq_length(length)
  local cos, sin = build_rope_cache(length, self.config.rope_n_elem)
  nn.replace(self, "cos", nn.Buffer(cos))
  nn.replace(self, "sin", nn.Buffer(sin))
  self.max_seq_length = length
end
function litgpt.GPT:set_kv_cache(batch)
  local config = self.config
  local heads = config.n_query_groups == 1 and 1 or config.n_head
  local shape = { batch, heads, self.max_seq_length, config.head_size }
  for i = 0, self.h.length - 1 do
    self.h[i].attn.kv_cache = KVCache(shape, shape)
  end
  local ones = torch.ones({ self.max_seq_length, self.max_seq_length }, torch.bool)
  self.mask_cache = nn.Buffer(ones:tril():unsqueeze(0):unsqueeze(0))
end
function litgpt.GPT:forward(idx, input_pos, lm_head_chunk_size)
  local cos, sin, mask
  if input_pos then
    cos = torch.index(self.cos, input_pos)
    sin = torch.index(self.sin, input_pos)
    mask = torch.index(self.mask_cache, input_pos, 2)
  else
    local T = idx:size(1)
    cos = self.cos:slice(0, nil, T)
    sin = self.sin:slice(0, nil, T)
  end
  local x = self.wte(idx)
  if self.config.scale_embeddings then
    x = x * (self.config.n_embd ^ 0.5)
  end
  for i = 0, self.h.length - 1 do
    x = self.h[i](x, cos, sin, mask, input_pos)
  end
  x = self.ln_f(x)
  if lm_head_chunk_size then
    local chunks = {}
    for i, x_i in ipairs { x:split(lm_head_chunk_size, 1) } do
      chunks[i] = self.lm_head(x_i)
    end
    return chunks
  end
  return self.lm_head(x)
end

return litgpt
