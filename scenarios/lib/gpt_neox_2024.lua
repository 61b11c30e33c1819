-- gpt_neox_2024.lua: GPTNeoXForCausalLM as Transformers 4.42 runs it (June 2024): its cache of angles is float32, so that
-- queries and keys become float32; eager attention goes on in it, SDPA casts back; the keys are returned for a cache.
local nn = use "nn"
local llama = use "llama"
local gpt_neox = {}

local GPTNeoXRotaryEmbedding = nn.class()
function GPTNeoXRotaryEmbedding:init(dim, max_position_embeddings)
  self.inv_freq = nn.Buffer(torch.empty({ dim // 2 }, torch.float32))
  self.cos_cached = nn.Buffer(torch.empty({ max_position_embeddings, dim }, torch.float32))
  self.sin_cached = nn.Buffer(torch.empty({ max_position_embeddings, dim }, torch.float32))
end
function GPTNeoXRotaryEmbedding:forward(seq_len)
  return self.cos_cached:slice(0, nil, seq_len), self.sin_cached:slice(0, nil, seq_len)
end

local function apply_rotary_pos_emb(q, k, cos, sin, position_ids)
  cos = torch.index(cos, position_ids):unsqueeze(1)
  sin = torch.index(sin, position_ids):unsqueeze(1)
  local q_embed = (q * cos) + (llama.rotate_half(q) * sin)
  local k_embed = (k * cos) + (llama.rotate_half(k) * sin)
  return q_embed, k_embed
end

local GPTNeoXAttention = nn.class()
function GPTNeoXAttention:init(config)
  self.config = config
  self.head_size = config.hidden // config.heads
  self.rotary_ndims = math.floor(self.head_size * config.rotary)
  local positions = config.positions
  self.bias = nn.Buffer(torch.tril(torch.ones({ positions, positions }, torch.bool)):view(1, 1, positions, positions))
  self.masked_bias = nn.Buffer(torch.empty({}, torch.float32))
  self.rotary_emb = GPTNeoXRotaryEmbedding(self.rotary_ndims, positions)
  self.query_key_value = nn.Linear(config.hidden, 3 * config.hidden)
  self.dense = nn.Linear(config.hidden, config.hidden)
end
function GPTNeoXAttention:projections_and_rope(hidden_states, position_ids)
  local batch, seq, heads = hidden_states:size(0), hidden_states:size(1), self.config.heads
  local qkv = self.query_key_value(hidden_states)
  qkv = qkv:view(batch, seq, heads, 3 * self.head_size)
  local query = qkv:slice(-1, nil, self.head_size):permute(0, 2, 1, 3)
  local key = qkv:slice(-1, self.head_size, 2 * self.head_size):permute(0, 2, 1, 3)
  local value = qkv:slice(-1, 2 * self.head_size):permute(0, 2, 1, 3)
  local query_rot, query_pass = query:slice(-1, nil, self.rotary_ndims), query:slice(-1, self.rotary_ndims)
  local key_rot, key_pass = key:slice(-1, nil, self.rotary_ndims), key:slice(-1, self.rotary_ndims)
  local cos, sin = self.rotary_emb(seq)
  query, key = apply_rotary_pos_emb(query_rot, key_rot, cos, sin, position_ids)
  query = torch.cat({ query, query_pass:to(torch.float32) }, -1)
  key = torch.cat({ key, key_pass:to(torch.float32) }, -1)
  local present = { key, value }
  return query, key, value, present
end
function GPTNeoXAttention:eager(query, key, value, attention_mask)
  local batch, heads, length, size = query:size(0), query:size(1), query:size(2), query:size(3)
  local causal_mask = self.bias:slice(2, 0, length):slice(3, nil, length)
  query = query:view(batch * heads, length, size)
  key = key:view(batch * heads, length, size)
  local attn_scores = torch.zeros({ batch * heads, length, length }, query.dtype)
  attn_scores = torch.baddbmm(attn_scores, query, key:transpose(1, 2))
  attn_scores = attn_scores:view(batch, heads, length, length)
  local mask_value = torch.empty({}, attn_scores.dtype)
  attn_scores = torch.where(causal_mask, attn_scores, mask_value)
  if attention_mask then
    attn_scores = attn_scores + attention_mask
  end
  local attn_weights = torch.softmax(attn_scores, -1)
  attn_weights = attn_weights:to(value.dtype)
  local attn_output = torch.matmul(attn_weights, value)
  return attn_output:permute(0, 2, 1, 3):contiguous():view(batch, length, heads * size), attn_weights
end
function GPTNeoXAttention:sdpa(query, key, value)
  local batch, length = query:size(0), query:size(2)
  query = query:to(value.dtype)
  key = key:to(value.dtype)
  local attn_output = torch.scaled_dot_product_attention(query, key, value, nil, true)
  attn_output = attn_output:transpose(1, 2):contiguous()
  return attn_output:view(batch, length, self.config.hidden), nil
end
function GPTNeoXAttention:forward(hidden_states, attention_mask, position_ids)
  local query, key, value, present = self:projections_and_rope(hidden_states, position_ids)
  local attn_output, attn_weights
  if self.config.attention == "eager" then
    attn_output, attn_weights = self:eager(query, key, value, attention_mask)
  else
    attn_output = self:sdpa(query, key, value)
  end
  attn_output = self.dense(attn_output)
  return attn_output, present, attn_weights
end

local GPTNeoXMLP = nn.class()
function GPTNeoXMLP:init(config)
  self.dense_h_to_4h = nn.Linear(config.hidden, config.intermediate)
  self.dense_4h_to_h = nn.Linear(config.intermediate, config.hidden)
end
function GPTNeoXMLP:forward(hidden_states)
  hidden_states = self.dense_h_to_4h(hidden_states)
  hidden_states = torch.gelu(hidden_states)
  hidden_states = self.dense_4h_to_h(hidden_states)
  return hidden_states
end

local GPTNeoXLayer = nn.class()
function GPTNeoXLayer:init(config)
  self.input_layernorm = nn.LayerNorm(config.hidden)
  self.post_attention_layernorm = nn.LayerNorm(config.hidden)
  self.attention = GPTNeoXAttention(config)
  self.mlp = GPTNeoXMLP(config)
end
function GPTNeoXLayer:forward(hidden_states, attention_mask, position_ids)
  local attn_output, present = self.attention(self.input_layernorm(hidden_states), attention_mask, position_ids)
  local mlp_output = self.mlp(self.post_attention_layernorm(hidden_states))
  hidden_states = mlp_output + attn_output + hidden_states
  return hidden_states, present
end

-- config: hidden intermediate layers heads vocab positions rotary attention
gpt_neox.ForCausalLM = nn.class()
function gpt_neox.ForCausalLM:init(config)
  self.config = config
  self.embed_in = nn.Embedding(config.vocab, config.hidden)
  local layers = {}
  for i = 1, config.layers do
    layers[i] = GPTNeoXLayer(config)
  end
  self.layers = nn.ModuleList(layers)
  self.final_layer_norm = nn.LayerNorm(config.hidden)
  self.embed_out = nn.Linear(config.hidden, config.vocab, false)
end
-- attention_mask: (batch, seq) of ones, or nil
function gpt_neox.ForCausalLM:forward(input_ids, attention_mask)
  local batch, seq = input_ids:size(0), input_ids:size(1)
  local position_ids = torch.arange(seq):unsqueeze(0)
  local hidden_states = self.embed_in(input_ids)
  if attention_mask and self.config.attention == "eager" then
    attention_mask = torch.zeros({ batch, 1, seq, seq }, hidden_states.dtype)
  end
  local presents, present = {}, nil
  for i = 0, self.layers.length - 1 do
    hidden_states, present = self.layers[i](hidden_states, attention_mask, position_ids)
    presents[i + 1] = present
  end
  hidden_states = self.final_layer_norm(hidden_states)
  local logits = self.embed_out(hidden_states)
  return { logits = logits, past_key_values = presents }
end

return gpt_neox
