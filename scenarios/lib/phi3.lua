-- phi3.lua: what Phi-3 (Transformers 5.24, models/phi3/modeling_phi3.py) has in place of LLaMA's classes: one product for
-- q, k and v, one for gate and up, and rotary embeddings of a part of the head.
local nn = use "nn"
local llama = use "llama"
local hf = use "hf"
local phi3 = {}

local Phi3MLP = nn.class()
phi3.MLP = Phi3MLP
function Phi3MLP:init(config)
  self.gate_up_proj = nn.Linear(config.hidden, 2 * config.intermediate, false)
  self.down_proj = nn.Linear(config.intermediate, config.hidden, false)
  self.activation_fn = hf.activation(config.activation or "silu")
end
function Phi3MLP:forward(hidden_states)
  local up_states = self.gate_up_proj(hidden_states)
  local gate
  gate, up_states = up_states:chunk(2, -1)
  up_states = up_states * self.activation_fn(gate)
  return self.down_proj(up_states)
end

local function apply_rotary_pos_emb(q, k, cos, sin)
  cos = cos:unsqueeze(1)
  sin = sin:unsqueeze(1)
  local rotary_dim = cos:size(-1)
  local q_rot, q_pass = q:slice(-1, nil, rotary_dim), q:slice(-1, rotary_dim)
  local k_rot, k_pass = k:slice(-1, nil, rotary_dim), k:slice(-1, rotary_dim)
  local q_embed = torch.cat({ (q_rot * cos) + (llama.rotate_half(q_rot) * sin), q_pass }, -1)
  local k_embed = torch.cat({ (k_rot * cos) + (llama.rotate_half(k_rot) * sin), k_pass }, -1)
  return q_embed, k_embed
end

local Phi3Attention = nn.class()
phi3.Attention = Phi3Attention
function Phi3Attention:init(config, layer_idx)
  self.layer_idx = layer_idx
  self.head_dim = config.head_dim
  self.heads, self.kv_heads = config.heads, config.kv_heads
  self.num_key_value_groups = config.heads // config.kv_heads
  self.scaling = self.head_dim ^ -0.5
  self.attention_dropout = config.attention_dropout
  self.attention_interface = llama.attention_interface(config)
  local op_size = config.heads * self.head_dim + 2 * (config.kv_heads * self.head_dim)
  self.o_proj = nn.Linear(config.heads * self.head_dim, config.hidden, false)
  self.qkv_proj = nn.Linear(config.hidden, op_size, false)
end
function Phi3Attention:forward(hidden_states, position_embeddings, attention_mask, cache)
  local batch, seq = hidden_states:size(0), hidden_states:size(1)
  local qkv = self.qkv_proj(hidden_states)
  local query_pos = self.heads * self.head_dim
  local query_states = qkv:slice(-1, nil, query_pos)
  local key_states = qkv:slice(-1, query_pos, query_pos + self.kv_heads * self.head_dim)
  local value_states = qkv:slice(-1, query_pos + self.kv_heads * self.head_dim)
  query_states = query_states:view(batch, seq, -1, self.head_dim):transpose(1, 2)
  key_states = key_states:view(batch, seq, -1, self.head_dim):transpose(1, 2)
  value_states = value_states:view(batch, seq, -1, self.head_dim):transpose(1, 2)
  local cos, sin = position_embeddings[1], position_embeddings[2]
  query_states, key_states = apply_rotary_pos_emb(query_states, key_states, cos, sin)
  if cache then
    key_states, value_states = cache:update(key_states, value_states, self.layer_idx)
  end
  local attn_output, attn_weights =
    self.attention_interface(self, query_states, key_states, value_states, attention_mask)
  attn_output = attn_output:reshape(batch, seq, -1):contiguous()
  attn_output = self.o_proj(attn_output)
  return attn_output, attn_weights
end

local Phi3DecoderLayer = nn.class()
phi3.DecoderLayer = Phi3DecoderLayer
function Phi3DecoderLayer:init(config, layer_idx)
  self.self_attn = Phi3Attention(config, layer_idx)
  self.mlp = Phi3MLP(config)
  self.input_layernorm = llama.RMSNorm(config.hidden)
  self.post_attention_layernorm = llama.RMSNorm(config.hidden)
  self.resid_attn_dropout = nn.Dropout(config.residual_dropout or 0.0)
  self.resid_mlp_dropout = nn.Dropout(config.residual_dropout or 0.0)
end
function Phi3DecoderLayer:forward(hidden_states, attention_mask, position_embeddings, cache)
  local residual = hidden_states
  hidden_states = self.input_layernorm(hidden_states)
  local _
  hidden_states, _ = self.self_attn(hidden_states, position_embeddings, attention_mask, cache)
  hidden_states = residual + self.resid_attn_dropout(hidden_states)
  residual = hidden_states
  hidden_states = self.post_attention_layernorm(hidden_states)
  hidden_states = self.mlp(hidden_states)
  hidden_states = residual + self.resid_mlp_dropout(hidden_states)
  return hidden_states
end

return phi3
