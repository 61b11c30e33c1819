-- modeling_falcon.lua: FalconForCausalLM as Transformers 5.24 runs it (models/falcon/modeling_falcon.py), name by name:
-- one key/value head for all queries (multi_query), rotary positions, no biases.
local nn = use "nn"
local masking = use "masking"
local llama = use "llama"
local hf = use "hf"
local falcon = {}

local FalconLinear = nn.class()
function FalconLinear:init(in_features, out_features)
  self.weight = nn.Parameter(torch.empty({ out_features, in_features }))
end
function FalconLinear:forward(input)
  local hidden_states = torch.matmul(input, self.weight:t())
  return hidden_states
end

local function dropout_add(x, residual, prob, training)
  local out = torch.dropout(x, prob, training)
  out = residual + out
  return out
end

local FalconAttention = nn.class()
function FalconAttention:init(config)
  self.hidden, self.heads, self.head_dim = config.hidden, config.heads, config.hidden // config.heads
  self.attention = config.attention
  self.query_key_value = FalconLinear(config.hidden, config.hidden + 2 * self.head_dim)
  self.dense = FalconLinear(config.hidden, config.hidden)
end
-- The last two heads are key and value: fused_qkv[..., [-2], :] is an index by a list, which copies.
local function split_heads(self, fused_qkv)
  local batch, seq = fused_qkv:size(0), fused_qkv:size(1)
  fused_qkv = fused_qkv:view(batch, seq, self.heads + 2, self.head_dim)
  return fused_qkv:slice(2, nil, -2), fused_qkv:index(torch.zeros({ 1 }, torch.int64), 2),
    fused_qkv:index(torch.zeros({ 1 }, torch.int64), 2)
end
function FalconAttention:forward(hidden_states, attention_mask, position_embeddings)
  local fused_qkv = self.query_key_value(hidden_states)
  local query_layer, key_layer, value_layer = split_heads(self, fused_qkv)
  local batch_size, query_length = query_layer:size(0), query_layer:size(1)
  query_layer = query_layer:transpose(1, 2):reshape(batch_size, self.heads, query_length, self.head_dim)
  key_layer = key_layer:transpose(1, 2):reshape(batch_size, 1, query_length, self.head_dim)
  value_layer = value_layer:transpose(1, 2):reshape(batch_size, 1, query_length, self.head_dim)
  local cos, sin = position_embeddings[1], position_embeddings[2]
  query_layer, key_layer = llama.apply_rotary_pos_emb(query_layer, key_layer, cos, sin)
  local attn_output
  local attention_scores = nil
  if self.attention == "eager" then
    attention_scores = torch.matmul(query_layer, key_layer:transpose(-1, -2))
    attention_scores:div_(math.sqrt(self.head_dim))
    attention_scores = torch.softmax(attention_scores + attention_mask, -1, hidden_states.dtype)
    attn_output = torch.matmul(attention_scores, value_layer)
  else
    attn_output = torch.scaled_dot_product_attention(query_layer, key_layer, value_layer, attention_mask)
  end
  attn_output = attn_output:view(batch_size, self.heads, query_length, self.head_dim)
  attn_output = attn_output:permute(0, 2, 1, 3)
  attn_output = attn_output:reshape(batch_size, query_length, self.heads * self.head_dim)
  attn_output = self.dense(attn_output)
  return attn_output, attention_scores
end

local FalconMLP = nn.class()
function FalconMLP:init(config)
  self.dense_h_to_4h = FalconLinear(config.hidden, config.intermediate)
  self.act = hf.activation(config.act)
  self.dense_4h_to_h = FalconLinear(config.intermediate, config.hidden)
end
function FalconMLP:forward(x)
  x = self.act(self.dense_h_to_4h(x))
  x = self.dense_4h_to_h(x)
  return x
end

local FalconDecoderLayer = nn.class()
function FalconDecoderLayer:init(config)
  self.config = config
  self.training = true
  self.self_attention = FalconAttention(config)
  self.mlp = FalconMLP(config)
  if not config.parallel then
    self.post_attention_layernorm = nn.LayerNorm(config.hidden)
  end
  self.input_layernorm = nn.LayerNorm(config.hidden)
end
function FalconDecoderLayer:forward(hidden_states, attention_mask, position_embeddings)
  local residual = hidden_states
  local attention_layernorm_out = self.input_layernorm(hidden_states)
  local attention_output, attn_weights = self.self_attention(attention_layernorm_out, attention_mask, position_embeddings)
  local mlp_layernorm_out
  if self.config.parallel then
    mlp_layernorm_out = attention_layernorm_out
  else
    residual = dropout_add(attention_output, residual, self.config.attention_dropout, self.training)
    mlp_layernorm_out = self.post_attention_layernorm(residual)
  end
  local mlp_output = self.mlp(mlp_layernorm_out)
  if self.config.parallel then
    mlp_output:add_(attention_output)
  end
  local output = dropout_add(mlp_output, residual, self.config.dropout, self.training)
  return output, attn_weights
end

local FalconModel = nn.class()
function FalconModel:init(config)
  self.config = config
  self.word_embeddings = nn.Embedding(config.vocab, config.hidden)
  local layers = {}
  for i = 1, config.layers do
    layers[i] = FalconDecoderLayer(config)
  end
  self.h = nn.ModuleList(layers)
  self.ln_f = nn.LayerNorm(config.hidden)
  self.rotary_emb = llama.RotaryEmbedding(config)
  self.rotary_emb:init_weights(config) -- post_init
end
function FalconModel:forward(input_ids)
  local inputs_embeds = self.word_embeddings(input_ids)
  local position_ids = torch.arange(inputs_embeds:size(1)) + 0
  position_ids = position_ids:unsqueeze(0)
  local causal_mask = masking.create_causal_mask(self.config, inputs_embeds, nil, position_ids, nil, nil, true)
  local hidden_states = inputs_embeds
  local position_embeddings = { self.rotary_emb(hidden_states, position_ids) }
  for i = 0, self.h.length - 1 do
    local outputs = { self.h[i](hidden_states, causal_mask, position_embeddings, position_ids) }
    hidden_states = outputs[1]
  end
  hidden_states = self.ln_f(hidden_states)
  return { last_hidden_state = hidden_states }
end

-- config: hidden intermediate layers heads vocab dropout attention_dropout act attention parallel tie_embeddings
falcon.ForCausalLM = nn.class()
function falcon.ForCausalLM:init(config)
  config.rotary_dim = config.hidden // config.heads
  self.config = config
  self.transformer = FalconModel(config)
  self.lm_head = nn.Linear(config.hidden, config.vocab, false)
  if config.tie_embeddings then
    hf.tie(self.lm_head, "weight", self.transformer.word_embeddings.weight)
  end
end
function falcon.ForCausalLM:forward(input_ids, labels)
  local transformer_outputs = self.transformer(input_ids)
  local hidden_states = transformer_outputs.last_hidden_state
  local lm_logits = self.lm_head(hidden_states)
  local loss = nil
  if labels then
    loss = hf.for_causal_lm_loss(lm_logits, labels, self.config.vocab)
  end
  return { loss = loss, logits = lm_logits }
end

return falcon
