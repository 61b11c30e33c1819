-- modeling_gpt_neox.lua: GPTNeoXForCausalLM as Transformers 5.24 runs it (models/gpt_neox/modeling_gpt_neox.py), name by
-- name.
local nn = use "nn"
local masking = use "masking"
local llama = use "llama"
local hf = use "hf"
local gpt_neox = {}

local GPTNeoXMLP = nn.class()
function GPTNeoXMLP:init(config)
  self.dense_h_to_4h = nn.Linear(config.hidden, config.intermediate)
  self.dense_4h_to_h = nn.Linear(config.intermediate, config.hidden)
  self.act = hf.activation(config.act)
end
function GPTNeoXMLP:forward(hidden_states)
  hidden_states = self.dense_h_to_4h(hidden_states)
  hidden_states = self.act(hidden_states)
  hidden_states = self.dense_4h_to_h(hidden_states)
  return hidden_states
end

-- Only the first part of a head turns.
local function apply_rotary_pos_emb(q, k, cos, sin)
  cos = cos:unsqueeze(1)
  sin = sin:unsqueeze(1)
  local rotary_dim = cos:size(-1)
  local q_rot, q_pass = q:slice(-1, nil, rotary_dim), q:slice(-1, rotary_dim)
  local k_rot, k_pass = k:slice(-1, nil, rotary_dim), k:slice(-1, rotary_dim)
  local q_embed = (q_rot * cos) + (llama.rotate_half(q_rot) * sin)
  local k_embed = (k_rot * cos) + (llama.rotate_half(k_rot) * sin)
  q_embed = torch.cat({ q_embed, q_pass }, -1)
  k_embed = torch.cat({ k_embed, k_pass }, -1)
  return q_embed, k_embed
end

local GPTNeoXAttention = nn.class()
function GPTNeoXAttention:init(config)
  self.head_size = config.hidden // config.heads
  self.attention_dropout = config.attention_dropout
  self.scaling = self.head_size ^ -0.5
  self.attention_interface = hf.attention_interface(config)
  self.training = true
  self.query_key_value = nn.Linear(config.hidden, 3 * config.hidden, config.attention_bias ~= false)
  self.dense = nn.Linear(config.hidden, config.hidden, config.attention_bias ~= false)
end
function GPTNeoXAttention:forward(hidden_states, attention_mask, position_embeddings)
  local batch, seq = hidden_states:size(0), hidden_states:size(1)
  local qkv = self.query_key_value(hidden_states):view(batch, seq, -1, 3 * self.head_size):transpose(1, 2)
  local query_states, key_states, value_states = qkv:chunk(3, -1)
  local cos, sin = position_embeddings[1], position_embeddings[2]
  query_states, key_states = apply_rotary_pos_emb(query_states, key_states, cos, sin)
  local attn_output, attn_weights = self.attention_interface(self, query_states, key_states, value_states,
    attention_mask, self.training and self.attention_dropout or 0.0)
  attn_output = attn_output:reshape(batch, seq, -1):contiguous()
  attn_output = self.dense(attn_output)
  return attn_output, attn_weights
end

local GPTNeoXLayer = nn.class()
function GPTNeoXLayer:init(config)
  self.use_parallel_residual = config.parallel
  self.input_layernorm = nn.LayerNorm(config.hidden)
  self.post_attention_layernorm = nn.LayerNorm(config.hidden)
  self.post_attention_dropout = nn.Dropout(config.dropout)
  self.post_mlp_dropout = nn.Dropout(config.dropout)
  self.attention = GPTNeoXAttention(config)
  self.mlp = GPTNeoXMLP(config)
end
function GPTNeoXLayer:forward(hidden_states, attention_mask, position_embeddings)
  local attn_output, _ = self.attention(self.input_layernorm(hidden_states), attention_mask, position_embeddings)
  attn_output = self.post_attention_dropout(attn_output)
  if self.use_parallel_residual then
    local mlp_output = self.mlp(self.post_attention_layernorm(hidden_states))
    mlp_output = self.post_mlp_dropout(mlp_output)
    hidden_states = mlp_output + attn_output + hidden_states
  else
    attn_output = attn_output + hidden_states
    local mlp_output = self.mlp(self.post_attention_layernorm(attn_output))
    mlp_output = self.post_mlp_dropout(mlp_output)
    hidden_states = mlp_output + attn_output
  end
  return hidden_states
end

local GPTNeoXModel = nn.class()
function GPTNeoXModel:init(config)
  self.config = config
  self.embed_in = nn.Embedding(config.vocab, config.hidden)
  self.emb_dropout = nn.Dropout(config.dropout)
  local layers = {}
  for i = 1, config.layers do
    layers[i] = GPTNeoXLayer(config)
  end
  self.layers = nn.ModuleList(layers)
  self.final_layer_norm = nn.LayerNorm(config.hidden)
  self.rotary_emb = llama.RotaryEmbedding(config)
  self.rotary_emb:init_weights(config) -- post_init
end
function GPTNeoXModel:forward(input_ids)
  local inputs_embeds = self.embed_in(input_ids)
  local position_ids = torch.arange(inputs_embeds:size(1)) + 0
  position_ids = position_ids:unsqueeze(0)
  local causal_mask = masking.create_causal_mask(self.config, inputs_embeds, nil, position_ids)
  local hidden_states = self.emb_dropout(inputs_embeds)
  local position_embeddings = { self.rotary_emb(hidden_states, position_ids) }
  for i = 0, self.layers.length - 1 do
    hidden_states = self.layers[i](hidden_states, causal_mask, position_embeddings, position_ids)
  end
  hidden_states = self.final_layer_norm(hidden_states)
  return { last_hidden_state = hidden_states }
end

-- config: hidden intermediate layers heads vocab rotary_dim dropout attention_dropout act attention parallel
-- tie_embeddings
gpt_neox.ForCausalLM = nn.class()
function gpt_neox.ForCausalLM:init(config)
  self.config = config
  self.gpt_neox = GPTNeoXModel(config)
  self.lm_head = nn.Linear(config.hidden, config.vocab, false)
  if config.tie_embeddings then
    hf.tie(self.lm_head, "weight", self.gpt_neox.embed_in.weight)
  end
end
function gpt_neox.ForCausalLM:forward(input_ids, labels)
  local outputs = self.gpt_neox(input_ids)
  local hidden_states = outputs.last_hidden_state
  local logits = self.lm_head(hidden_states)
  local loss = nil
  if labels then
    loss = hf.for_causal_lm_loss(logits, labels, self.config.vocab)
  end
  return { loss = loss, logits = logits }
end

return gpt_neox
