-- deepseek.lua: what DeepSeek-V3 (Transformers 5.24, models/deepseek_v3/modeling_deepseek_v3.py) has in place of LLaMA's
-- classes: latent attention, whose cache holds one compressed vector a token, and mixtures of experts from a layer on.
local nn = use "nn"
local llama = use "llama"
local experts = use "experts"
local deepseek = {}

-- interleaved pairs, without making them contiguous first
local function apply_rotary_pos_emb_interleave(q, k, cos, sin)
  cos = cos:slice(-1, nil, cos:size(-1) // 2):unsqueeze(1)
  sin = sin:slice(-1, nil, sin:size(-1) // 2):unsqueeze(1)
  local q1, q2 = q:slice(-1, 0, nil, 2), q:slice(-1, 1, nil, 2)
  local k1, k2 = k:slice(-1, 0, nil, 2), k:slice(-1, 1, nil, 2)
  local q_embed = torch.cat({ q1 * cos - q2 * sin, q2 * cos + q1 * sin }, -1)
  local k_embed = torch.cat({ k1 * cos - k2 * sin, k2 * cos + k1 * sin }, -1)
  return q_embed, k_embed
end

local DeepseekV3Attention = nn.class()
deepseek.Attention = DeepseekV3Attention
function DeepseekV3Attention:init(config, layer_idx)
  self.layer_idx = layer_idx
  self.heads = config.heads
  self.nope_dim, self.rope_dim, self.value_dim = config.nope_dim, config.rope_dim, config.value_dim
  self.kv_rank = config.kv_rank
  self.qk_head_dim = config.nope_dim + config.rope_dim
  self.num_key_value_groups = config.heads // config.kv_heads
  self.scaling = self.qk_head_dim ^ -0.5
  self.attention_dropout = config.attention_dropout
  self.rope_interleave = config.rope_interleave ~= false
  local bias = config.attention_bias == true
  self.attention_interface = llama.attention_interface(config)
  if config.q_rank == 0 then
    self.q_proj = nn.Linear(config.hidden, config.heads * self.qk_head_dim, false)
  else
    self.q_a_proj = nn.Linear(config.hidden, config.q_rank, bias)
    self.q_a_layernorm = llama.RMSNorm(config.q_rank)
    self.q_b_proj = nn.Linear(config.q_rank, config.heads * self.qk_head_dim, false)
  end
  self.kv_a_proj_with_mqa = nn.Linear(config.hidden, config.kv_rank + config.rope_dim, bias)
  self.kv_a_layernorm = llama.RMSNorm(config.kv_rank)
  self.kv_b_proj = nn.Linear(config.kv_rank, config.heads * (config.nope_dim + config.value_dim), false)
  self.o_proj = nn.Linear(config.heads * config.value_dim, config.hidden, bias)
end

-- keys and values of all heads from what the cache holds
local function expand_kv(self, kv_nope, k_rot)
  local batch_size, seq_length = kv_nope:size(0), kv_nope:size(2)
  kv_nope = self.kv_b_proj(kv_nope):view(batch_size, seq_length, -1, self.nope_dim + self.value_dim):transpose(1, 2)
  local k_nope, value_states = torch.split_with_sizes(kv_nope, { self.nope_dim, self.value_dim }, -1)
  k_rot = k_rot:expand(-1, k_nope:size(1), -1, -1)
  local key_states = torch.empty({ batch_size, kv_nope:size(1), seq_length, self.qk_head_dim }, kv_nope.dtype)
  key_states:copy_slice_(k_nope, -1, 0)
  key_states:copy_slice_(k_rot, -1, self.nope_dim)
  return key_states, value_states
end

function DeepseekV3Attention:forward(hidden_states, position_embeddings, attention_mask, cache)
  local batch_size, seq_length = hidden_states:size(0), hidden_states:size(1)
  local q_states
  if self.q_proj then
    q_states = self.q_proj(hidden_states)
  else
    q_states = self.q_b_proj(self.q_a_layernorm(self.q_a_proj(hidden_states)))
  end
  q_states = q_states:view(batch_size, seq_length, -1, self.qk_head_dim):transpose(1, 2)
  local q_pass, q_rot = torch.split_with_sizes(q_states, { self.nope_dim, self.rope_dim }, -1)
  local compressed_kv = self.kv_a_proj_with_mqa(hidden_states)
  local kv_nope, k_rot = torch.split_with_sizes(compressed_kv, { self.kv_rank, self.rope_dim }, -1)
  kv_nope = self.kv_a_layernorm(kv_nope)
  kv_nope = kv_nope:view(batch_size, 1, seq_length, self.kv_rank)
  k_rot = k_rot:view(batch_size, 1, seq_length, self.rope_dim)
  local cos, sin = position_embeddings[1], position_embeddings[2]
  if self.rope_interleave then
    q_rot, k_rot = apply_rotary_pos_emb_interleave(q_rot, k_rot, cos, sin)
  else
    q_rot, k_rot = llama.apply_rotary_pos_emb(q_rot, k_rot, cos, sin)
  end
  if cache then
    kv_nope, k_rot = cache:update(kv_nope, k_rot, self.layer_idx)
  end
  local query_states = torch.cat({ q_pass, q_rot }, -1)
  local key_states, value_states = expand_kv(self, kv_nope, k_rot)
  local attn_output, attn_weights =
    self.attention_interface(self, query_states, key_states, value_states, attention_mask)
  attn_output = attn_output:reshape(batch_size, seq_length, -1):contiguous()
  attn_output = self.o_proj(attn_output)
  return attn_output, attn_weights
end

function deepseek.make_mlp(config, layer_idx)
  if layer_idx > config.dense_layers then
    return experts.DeepseekV3MoE(config)
  end
  return llama.MLP(config)
end

deepseek.has_experts = true

return deepseek
