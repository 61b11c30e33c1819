-- llama.lua: LlamaForCausalLM as Transformers 5.24 runs it (models/llama/modeling_llama.py), name by name, because a name
-- is what keeps a tensor alive. Mistral, Qwen2 and Qwen3 are the same code but for what config says; other families
-- (phi3.lua, gemma.lua, experts.lua, deepseek.lua) bring classes of their own in place of some of these (config.classes).
local nn = use "nn"
local F = use "functional"
local masking = use "masking"
local rope = use "rope"
local hf = use "hf"
local llama = {}

local LlamaRMSNorm = nn.class()
llama.RMSNorm = LlamaRMSNorm
function LlamaRMSNorm:init(hidden_size)
  self.weight = nn.Parameter(torch.ones({ hidden_size }))
end
function LlamaRMSNorm:forward(hidden_states)
  local input_dtype = hidden_states.dtype
  hidden_states = hidden_states:to(torch.float32)
  local variance = hidden_states:pow(2):mean(-1, true)
  hidden_states = hidden_states * torch.rsqrt(variance + 1e-6)
  return self.weight * hidden_states:to(input_dtype)
end

local LlamaRotaryEmbedding = nn.class()
llama.RotaryEmbedding = LlamaRotaryEmbedding
function LlamaRotaryEmbedding:init(config)
  self.rope, self.dim = config.rope or rope.default, config.rotary_dim
  local inv_freq = rope.compute(self.dim, self.rope)
  self.inv_freq = nn.Buffer(inv_freq)
  self.original_inv_freq = nn.Buffer(inv_freq:clone())
  rope.prepare(self, self.rope)
end
-- PreTrainedModel._init_weights computes the frequencies once more and copies them
function LlamaRotaryEmbedding:init_weights()
  local buffer_value = rope.compute(self.dim, self.rope)
  self.inv_freq:copy_(buffer_value)
  self.original_inv_freq:copy_(buffer_value)
end
function LlamaRotaryEmbedding:forward(x, position_ids)
  rope.update(self, self.dim, self.rope, position_ids)
  return llama.rotary_embeddings(x, position_ids, self.inv_freq)
end
function llama.rotary_embeddings(x, position_ids, inv_freq)
  local freqs = position_ids:unsqueeze(-1):float() * inv_freq:to(torch.float32)
  local emb = torch.cat({ freqs, freqs }, -1)
  local cos = emb:cos() * 1.0 -- attention_scaling
  local sin = emb:sin() * 1.0
  return cos:to(x.dtype), sin:to(x.dtype)
end

function llama.rotate_half(x)
  local half = x:size(-1) // 2
  local x1 = x:slice(-1, nil, half)
  local x2 = x:slice(-1, half)
  return torch.cat({ -x2, x1 }, -1)
end

local rotate_half = llama.rotate_half

function llama.apply_rotary_pos_emb(q, k, cos, sin)
  cos = cos:unsqueeze(1)
  sin = sin:unsqueeze(1)
  local q_embed = (q * cos) + (rotate_half(q) * sin)
  local k_embed = (k * cos) + (rotate_half(k) * sin)
  return q_embed, k_embed
end

local LlamaMLP = nn.class()
llama.MLP = LlamaMLP
function LlamaMLP:init(config, intermediate)
  intermediate = intermediate or config.intermediate
  local bias = config.mlp_bias == true
  self.gate_proj = nn.Linear(config.hidden, intermediate, bias)
  self.up_proj = nn.Linear(config.hidden, intermediate, bias)
  self.down_proj = nn.Linear(intermediate, config.hidden, bias)
  self.act_fn = hf.activation(config.activation or "silu")
end
function LlamaMLP:forward(x)
  local down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))
  return down_proj
end

local function repeat_kv(hidden_states, n_rep)
  local batch, kv_heads, slen, head_dim = table.unpack(hidden_states.shape)
  if n_rep == 1 then
    return hidden_states
  end
  hidden_states = hidden_states:unsqueeze(2):expand(batch, kv_heads, n_rep, slen, head_dim)
  return hidden_states:reshape(batch, kv_heads * n_rep, slen, head_dim)
end

local function eager_attention_forward(module, query, key, value, attention_mask, softcap)
  local key_states = repeat_kv(key, module.num_key_value_groups)
  local value_states = repeat_kv(value, module.num_key_value_groups)
  local attn_weights = torch.matmul(query, key_states:transpose(2, 3)) * module.scaling
  if softcap and softcap > 0 then
    attn_weights = attn_weights / softcap
    attn_weights = torch.tanh(attn_weights)
    attn_weights = attn_weights * softcap
  end
  if attention_mask then
    attn_weights = attn_weights + attention_mask
  end
  attn_weights = torch.softmax(attn_weights, -1, torch.float32):to(query.dtype)
  attn_weights = torch.dropout(attn_weights, module.attention_dropout or 0.0, module.training ~= false)
  local attn_output = torch.matmul(attn_weights, value_states)
  attn_output = attn_output:transpose(1, 2):contiguous()
  return attn_output, attn_weights
end

-- integrations/sdpa_attention.py: a single query of grouped heads runs on the key/value heads
local function pack_gqa(hidden_states, n_rep)
  if not hidden_states or hidden_states:size(1) == 1 then
    return hidden_states
  end
  local batch, heads, _, dim = table.unpack(hidden_states.shape)
  return hidden_states:reshape(batch, heads // n_rep, n_rep, dim)
end

local function sdpa_attention_forward(module, query, key, value, attention_mask)
  local q_length = query:size(2)
  local enable_gqa = false
  if module.num_key_value_groups > 1 then
    if not attention_mask and key:size(-1) == value:size(-1) and key:size(-1) <= 256 then
      enable_gqa = true
    elseif q_length == 1 then
      query = pack_gqa(query, module.num_key_value_groups)
      attention_mask = pack_gqa(attention_mask, module.num_key_value_groups)
    else
      key = repeat_kv(key, module.num_key_value_groups)
      value = repeat_kv(value, module.num_key_value_groups)
    end
  end
  local is_causal = q_length > 1 and not attention_mask
  if is_causal and key:size(2) > q_length then -- the prompt in an empty static cache
    key = key:narrow(2, 0, q_length)
    value = value:narrow(2, 0, q_length)
  end
  local dropout = module.training ~= false and module.attention_dropout or 0.0
  local attn_output =
    torch.scaled_dot_product_attention(query, key, value, attention_mask, is_causal, enable_gqa, dropout)
  attn_output = attn_output:reshape(attn_output:size(0), -1, q_length, value:size(-1))
  attn_output = attn_output:transpose(1, 2):contiguous()
  return attn_output, nil
end

function llama.attention_interface(config)
  return config.attention == "eager" and eager_attention_forward or sdpa_attention_forward
end

local LlamaAttention = nn.class()
llama.Attention = LlamaAttention
function LlamaAttention:init(config, layer_idx)
  self.layer_idx = layer_idx
  self.head_dim = config.head_dim
  self.num_key_value_groups = config.heads // config.kv_heads
  self.scaling = self.head_dim ^ -0.5
  self.softcap = config.attention_softcap
  self.attention_dropout = config.attention_dropout
  self.attention_interface = llama.attention_interface(config)
  self.q_proj = nn.Linear(config.hidden, config.heads * self.head_dim, config.qkv_bias == true)
  self.k_proj = nn.Linear(config.hidden, config.kv_heads * self.head_dim, config.qkv_bias == true)
  self.v_proj = nn.Linear(config.hidden, config.kv_heads * self.head_dim, config.qkv_bias == true)
  self.o_proj = nn.Linear(config.heads * self.head_dim, config.hidden, config.o_bias == true)
  self.qk_norm = config.qk_norm -- on the head dim only: "projected" before heads go in front, "transposed" after
  if self.qk_norm then
    self.q_norm = config.classes.RMSNorm(self.head_dim)
    self.k_norm = config.classes.RMSNorm(self.head_dim)
  end
end
function LlamaAttention:forward(hidden_states, position_embeddings, attention_mask, cache, position_ids)
  local batch, seq = hidden_states:size(0), hidden_states:size(1)
  local query_states, key_states
  if self.qk_norm == "projected" then
    query_states = self.q_norm(self.q_proj(hidden_states):view(batch, seq, -1, self.head_dim)):transpose(1, 2)
    key_states = self.k_norm(self.k_proj(hidden_states):view(batch, seq, -1, self.head_dim)):transpose(1, 2)
  else
    query_states = self.q_proj(hidden_states):view(batch, seq, -1, self.head_dim):transpose(1, 2)
    key_states = self.k_proj(hidden_states):view(batch, seq, -1, self.head_dim):transpose(1, 2)
  end
  local value_states = self.v_proj(hidden_states):view(batch, seq, -1, self.head_dim):transpose(1, 2)
  if self.qk_norm == "transposed" then
    query_states = self.q_norm(query_states)
    key_states = self.k_norm(key_states)
  end
  local cos, sin = position_embeddings[1], position_embeddings[2]
  query_states, key_states = llama.apply_rotary_pos_emb(query_states, key_states, cos, sin)
  if cache then
    key_states, value_states = cache:update(key_states, value_states, self.layer_idx)
  end
  local attn_output, attn_weights =
    self.attention_interface(self, query_states, key_states, value_states, attention_mask, self.softcap, position_ids)
  attn_output = attn_output:reshape(batch, seq, -1):contiguous()
  attn_output = self.o_proj(attn_output)
  return attn_output, attn_weights
end

local LlamaDecoderLayer = nn.class()
llama.DecoderLayer = LlamaDecoderLayer
function LlamaDecoderLayer:init(config, layer_idx)
  local classes = config.classes
  self.self_attn = classes.Attention(config, layer_idx)
  self.mlp = classes.make_mlp and classes.make_mlp(config, layer_idx) or classes.MLP(config)
  self.input_layernorm = classes.RMSNorm(config.hidden)
  self.post_attention_layernorm = classes.RMSNorm(config.hidden)
end
function LlamaDecoderLayer:forward(hidden_states, attention_mask, position_embeddings, cache, position_ids)
  local residual = hidden_states
  hidden_states = self.input_layernorm(hidden_states)
  local _
  hidden_states, _ = self.self_attn(hidden_states, position_embeddings, attention_mask, cache, position_ids)
  hidden_states = residual + hidden_states
  residual = hidden_states
  hidden_states = self.post_attention_layernorm(hidden_states)
  hidden_states = self.mlp(hidden_states)
  hidden_states = residual + hidden_states
  return hidden_states
end

-- One mask a kind of layer; all layers of LLaMA are of the kind "full".
function llama.create_masks(config, inputs_embeds, position_ids, cache)
  local masks = {}
  for _, kind in ipairs(config.mask_kinds) do
    masks[kind] = masking.create_causal_mask(config, inputs_embeds, nil, position_ids, cache, kind)
  end
  return masks
end

local LlamaModel = nn.class()
function LlamaModel:init(config)
  self.config = config
  self.embed_tokens = config.classes.Embedding(config.vocab, config.hidden)
  local layers = {}
  for i = 1, config.layers do
    layers[i] = config.classes.DecoderLayer(config, i)
  end
  self.layers = nn.ModuleList(layers)
  self.norm = config.classes.RMSNorm(config.hidden)
  self.rotary_emb = config.classes.RotaryEmbedding(config)
  self.rotary_emb:init_weights(config) -- post_init
end
-- position_ids, masks: what generate() has made already
function LlamaModel:forward(input_ids, cache, position_ids, masks)
  local inputs_embeds = self.embed_tokens(input_ids)
  if not position_ids then
    local past_seen_tokens = cache and cache:get_seq_length() or 0
    position_ids = torch.arange(inputs_embeds:size(1)) + past_seen_tokens
    position_ids = position_ids:unsqueeze(0)
  end
  local causal_mask_mapping = masks or llama.create_masks(self.config, inputs_embeds, position_ids, cache)
  local hidden_states = inputs_embeds
  local position_embeddings = {}
  for _, kind in ipairs(self.config.rotary_kinds) do
    position_embeddings[kind] = { self.rotary_emb(hidden_states, position_ids, kind) }
  end
  for i = 0, self.layers.length - 1 do
    local kind = self.config.layer_kinds[i + 1]
    local rotary = position_embeddings[kind] or position_embeddings.full
    hidden_states = self.layers[i](hidden_states, causal_mask_mapping[kind], rotary, cache, position_ids)
  end
  hidden_states = self.norm(hidden_states)
  return { last_hidden_state = hidden_states }
end

-- loss_utils.py: the logits as float32, the labels padded instead of shifting the logits
local function for_causal_lm_loss(logits, labels, vocab_size)
  logits = logits:float()
  labels = torch.pad(labels, { 0, 1 })
  local shift_labels = labels:slice(-1, 1):contiguous()
  logits = logits:view(-1, vocab_size)
  shift_labels = shift_labels:view(-1)
  local function fixed_cross_entropy(source, target)
    local loss = F.cross_entropy(source, target)
    return loss
  end
  local loss = fixed_cross_entropy(logits, shift_labels)
  return loss
end

llama.Embedding = nn.Embedding

local LlamaForCausalLM = nn.class()
function LlamaForCausalLM:init(config)
  self.config = config
  self.model = LlamaModel(config)
  self.lm_head = nn.Linear(config.hidden, config.vocab, false)
  if config.tie_embeddings then
    nn.replace(self.lm_head, "weight", self.model.embed_tokens.weight)
  end
end
-- inputs: of generate(): position_ids masks last_logits
function LlamaForCausalLM:forward(input_ids, labels, cache, inputs)
  local outputs = self.model(input_ids, cache, inputs and inputs.position_ids, inputs and inputs.masks)
  local hidden_states = outputs.last_hidden_state
  if inputs and inputs.last_logits then -- slice_logits_to_keep
    hidden_states = hidden_states:slice(1, -1)
  end
  local logits = self.lm_head(hidden_states)
  if self.config.final_softcap and self.config.final_softcap > 0 then
    logits = logits / self.config.final_softcap
    logits = torch.tanh(logits)
    logits = logits * self.config.final_softcap
  end
  local loss = nil
  if labels then
    loss = for_causal_lm_loss(logits, labels, self.config.vocab)
  end
  return { loss = loss, logits = logits }
end

local function with_defaults(config)
  config.head_dim = (config.head_dim or 0) > 0 and config.head_dim or config.hidden // config.heads
  config.rotary_dim = config.rotary_dim or config.head_dim
  assert(config.rotary_dim % 2 == 0, "rotary embeddings turn pairs: the width of a head must be even")
  local given = config.classes or {}
  config.classes = setmetatable({}, {
    __index = function(_, name)
      return given[name] or llama[name]
    end,
  })
  config.mask_kinds = config.mask_kinds or { "full" }
  config.rotary_kinds = config.rotary_kinds or { "full" }
  config.layer_kinds = config.layer_kinds or setmetatable({}, { __index = function() return config.mask_kinds[1] end })
  return setmetatable(config, {})
end

-- config: hidden intermediate layers heads kv_heads head_dim vocab tie_embeddings attention, and what a family sets beside
-- (families.lua); built in the given type
function llama.LlamaForCausalLM(config, dtype)
  with_defaults(config)
  local default = torch.set_default_dtype(dtype)
  local model = LlamaForCausalLM(config)
  torch.set_default_dtype(default)
  nn.name(model)
  return model
end

return llama
