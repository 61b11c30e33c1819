-- modeling_falcon.lua: FalconForCausalLM as Transformers 5.24 runs it (models/falcon/modeling_falcon.py), name by name:
-- one key/value head for all queries (multi_query), one a group, or as many; rotary positions or ALiBi.
local nn = use "nn"
local masking = use "masking"
local llama = use "llama"
local hf = use "hf"
local falcon = {}

local FalconLinear = nn.class()
function FalconLinear:init(in_features, out_features, bias)
  self.weight = nn.Parameter(torch.empty({ out_features, in_features }))
  if bias then
    self.bias = nn.Parameter(torch.empty({ out_features }))
  end
end
function FalconLinear:forward(input)
  local hidden_states = torch.matmul(input, self.weight:t())
  if not self.bias then
    return hidden_states
  end
  return hidden_states + self.bias
end

local function dropout_add(x, residual, prob, training)
  local out = torch.dropout(x, prob, training)
  out = residual + out
  return out
end

local FalconAttention = nn.class()
function FalconAttention:init(config)
  self.hidden, self.heads, self.head_dim = config.hidden, config.heads, config.hidden // config.heads
  self.attention, self.grouped, self.multi_query = config.attention, config.grouped, config.multi_query ~= false
  self.kv_heads = config.kv_heads
  local qkv_out_dim = 3 * config.hidden
  if self.grouped then
    qkv_out_dim = (config.kv_heads * 2 + config.heads) * self.head_dim
  elseif self.multi_query then
    qkv_out_dim = config.hidden + 2 * self.head_dim
  end
  self.query_key_value = FalconLinear(config.hidden, qkv_out_dim, config.bias)
  self.dense = FalconLinear(config.hidden, config.hidden, config.bias)
  self.attention_dropout = nn.Dropout(config.attention_dropout)
  self.training = true
end

-- x[..., [-2], :] is an index by a list, which copies.
local function index(x, dim)
  return x:index(torch.zeros({ 1 }, torch.int64), dim)
end

-- Each group of heads has its queries, then one key and one value, which are repeated for all.
local function split_groups(self, fused_qkv)
  local batch, seq_len = fused_qkv:size(0), fused_qkv:size(1)
  local qkv = fused_qkv:view(batch, seq_len, -1, self.heads // self.kv_heads + 2, self.head_dim)
  local query = qkv:slice(3, nil, -2)
  local key = index(qkv, 3)
  local value = index(qkv, 3)
  key = key:expand(query.shape)
  value = value:expand(query.shape)
  local flat = {}
  for i, x in ipairs { query, key, value } do
    flat[i] = x:flatten(2, 3)
  end
  query, key, value = flat[1], flat[2], flat[3]
  return query, key, value
end

local function split_heads(self, fused_qkv)
  if self.grouped then
    return split_groups(self, fused_qkv)
  end
  local batch, seq = fused_qkv:size(0), fused_qkv:size(1)
  if not self.multi_query then
    fused_qkv = fused_qkv:view(batch, seq, self.heads, 3, self.head_dim)
    return fused_qkv:select(3, 0), fused_qkv:select(3, 1), fused_qkv:select(3, 2)
  end
  fused_qkv = fused_qkv:view(batch, seq, self.heads + 2, self.head_dim)
  return fused_qkv:slice(2, nil, -2), index(fused_qkv, 2), index(fused_qkv, 2)
end

-- Rotary positions: no dropout.
local function attend(self, query_layer, key_layer, value_layer, attention_mask, dtype)
  local batch_size, query_length = query_layer:size(0), query_layer:size(2)
  local attn_output
  local attention_scores = nil
  if self.attention == "eager" then
    attention_scores = torch.matmul(query_layer, key_layer:transpose(-1, -2))
    attention_scores:div_(math.sqrt(self.head_dim))
    attention_scores = torch.softmax(attention_scores + attention_mask, -1, dtype)
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

-- ALiBi: added to the scores, or part of the mask already (sdpa).
local function attend_with_alibi(self, query_layer, key_layer, value_layer, attention_mask, dtype, alibi)
  local batch_size, query_length = query_layer:size(0), query_layer:size(2)
  local attn_output, attention_probs
  if self.attention ~= "eager" then
    local dropout = self.training and self.attention_dropout.p or 0.0
    attn_output =
      torch.scaled_dot_product_attention(query_layer, key_layer, value_layer, attention_mask, false, false, dropout)
    attn_output = attn_output:transpose(1, 2)
    attn_output = attn_output:reshape(batch_size, query_length, self.heads * self.head_dim)
    attn_output = self.dense(attn_output)
    return attn_output, nil
  end
  local matmul_result = torch.matmul(query_layer, key_layer:transpose(-1, -2))
  local attention_scores = matmul_result:view(batch_size, self.heads, query_length, -1)
  attention_scores = attention_scores:to(torch.float32)
  local attention_logits = attention_scores + alibi:view(batch_size, self.heads, 1, -1)
  attention_logits:mul_(1.0 / math.sqrt(self.head_dim))
  attention_probs = torch.softmax(attention_logits + attention_mask, -1, dtype)
  attention_probs = self.attention_dropout(attention_probs)
  local attention_probs_reshaped = attention_probs:view(batch_size, self.heads, query_length, -1)
  attn_output = torch.matmul(attention_probs_reshaped, value_layer):flatten(0, 1)
  local function merge_heads(x)
    x = x:view(batch_size, self.heads, query_length, self.head_dim)
    x = x:permute(0, 2, 1, 3)
    return x:reshape(batch_size, query_length, self.heads * self.head_dim)
  end
  attn_output = merge_heads(attn_output)
  attn_output = self.dense(attn_output)
  return attn_output, attention_probs
end

function FalconAttention:forward(hidden_states, attention_mask, position_embeddings, alibi)
  local fused_qkv = self.query_key_value(hidden_states)
  local query_layer, key_layer, value_layer = split_heads(self, fused_qkv)
  local batch_size, query_length = query_layer:size(0), query_layer:size(1)
  query_layer = query_layer:transpose(1, 2):reshape(batch_size, self.heads, query_length, self.head_dim)
  key_layer = key_layer:transpose(1, 2):reshape(batch_size, -1, query_length, self.head_dim)
  value_layer = value_layer:transpose(1, 2):reshape(batch_size, -1, query_length, self.head_dim)
  if alibi then
    return attend_with_alibi(self, query_layer, key_layer, value_layer, attention_mask, hidden_states.dtype, alibi)
  end
  local cos, sin = position_embeddings[1], position_embeddings[2]
  query_layer, key_layer = llama.apply_rotary_pos_emb(query_layer, key_layer, cos, sin)
  return attend(self, query_layer, key_layer, value_layer, attention_mask, hidden_states.dtype)
end

local FalconMLP = nn.class()
function FalconMLP:init(config)
  self.dense_h_to_4h = FalconLinear(config.hidden, config.intermediate, config.bias)
  self.act = hf.activation(config.act)
  self.dense_4h_to_h = FalconLinear(config.intermediate, config.hidden, config.bias)
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
  if config.parallel and config.two_norms then
    self.ln_attn = nn.LayerNorm(config.hidden)
    self.ln_mlp = nn.LayerNorm(config.hidden)
    return
  end
  if not config.parallel then
    self.post_attention_layernorm = nn.LayerNorm(config.hidden)
  end
  self.input_layernorm = nn.LayerNorm(config.hidden)
end
function FalconDecoderLayer:forward(hidden_states, attention_mask, position_embeddings, alibi)
  local config = self.config
  local residual = hidden_states
  local attention_layernorm_out, mlp_layernorm_out
  if config.grouped and config.two_norms then
    attention_layernorm_out = self.ln_attn(hidden_states)
    mlp_layernorm_out = self.ln_mlp(hidden_states)
  else
    attention_layernorm_out = self.input_layernorm(hidden_states)
  end
  local attention_output, attn_weights =
    self.self_attention(attention_layernorm_out, attention_mask, position_embeddings, alibi)
  if not config.grouped and not config.parallel then
    residual = dropout_add(attention_output, residual, config.attention_dropout, self.training)
    mlp_layernorm_out = self.post_attention_layernorm(residual)
  elseif not mlp_layernorm_out then
    mlp_layernorm_out = attention_layernorm_out
  end
  local mlp_output = self.mlp(mlp_layernorm_out)
  if config.grouped or config.parallel then
    mlp_output:add_(attention_output)
  end
  local output = dropout_add(mlp_output, residual, config.dropout, self.training)
  return output, attn_weights
end

local function build_alibi_tensor(attention_mask, num_heads, dtype)
  local batch_size, seq_length = table.unpack(attention_mask.shape)
  local closest_power_of_2 = 1 << math.floor(math.log(num_heads, 2))
  local base = torch.zeros({}, torch.float32)
  local powers = torch.arange(1, 1 + closest_power_of_2, 1, torch.int32)
  local slopes = torch.pow(base, powers)
  if closest_power_of_2 ~= num_heads then
    local extra_base = torch.zeros({}, torch.float32)
    local num_remaining_heads = math.min(closest_power_of_2, num_heads - closest_power_of_2)
    local extra_powers = torch.arange(1, 1 + 2 * num_remaining_heads, 2, torch.int32)
    slopes = torch.cat({ slopes, torch.pow(extra_base, extra_powers) }, 0)
  end
  local arange_tensor = ((attention_mask:cumsum(-1) - 1) * attention_mask):unsqueeze(1)
  local alibi = slopes:unsqueeze(-1):to(torch.bfloat16) * arange_tensor
  return alibi:reshape(batch_size * num_heads, 1, seq_length):to(dtype)
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
  local alibi = nil
  local mask = nil
  if self.config.alibi then
    mask = torch.ones({ inputs_embeds:size(0), inputs_embeds:size(1) }, torch.int64)
    alibi = build_alibi_tensor(mask, self.config.heads, inputs_embeds.dtype)
  end
  local position_ids = torch.arange(inputs_embeds:size(1)) + 0
  position_ids = position_ids:unsqueeze(0)
  local causal_mask = masking.create_causal_mask(self.config, inputs_embeds, nil, position_ids, nil, nil, true)
  if alibi then -- it goes into the mask, as numbers
    alibi = alibi:reshape(inputs_embeds:size(0), -1, 1, inputs_embeds:size(1))
    if causal_mask.dtype == torch.bool then
      causal_mask = torch.where(causal_mask, torch.zeros({}, inputs_embeds.dtype), -1.0)
    end
    causal_mask =
      torch.masked_fill(alibi / math.sqrt(self.config.hidden // self.config.heads), causal_mask:lt(-1), -1.0)
  end
  local hidden_states = inputs_embeds
  local position_embeddings = { self.rotary_emb(hidden_states, position_ids) }
  for i = 0, self.h.length - 1 do
    local outputs = { self.h[i](hidden_states, causal_mask, position_embeddings, alibi, position_ids) }
    hidden_states = outputs[1]
  end
  hidden_states = self.ln_f(hidden_states)
  return { last_hidden_state = hidden_states }
end

-- config: hidden intermediate layers heads vocab dropout attention_dropout act attention parallel tie_embeddings; grouped
-- (new_decoder_architecture, with kv_heads groups and two_norms) multi_query (true when nil) alibi bias
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
