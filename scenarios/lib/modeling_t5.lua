-- modeling_t5.lua: T5ForConditionalGeneration as Transformers 5.24 runs it (models/t5/modeling_t5.py), name by name: an
-- encoder and a decoder whose scores get a learned bias by distance, which the first layer of each makes for all.
local nn = use "nn"
local masking = use "masking"
local hf = use "hf"
local t5 = {}

local T5LayerNorm = nn.class()
function T5LayerNorm:init(hidden_size)
  self.weight = nn.Parameter(torch.ones({ hidden_size }))
end
function T5LayerNorm:forward(hidden_states)
  local variance = hidden_states:to(torch.float32):pow(2):mean(-1, true)
  hidden_states = hidden_states * torch.rsqrt(variance + 1e-6)
  if self.weight.dtype ~= torch.float32 then
    hidden_states = hidden_states:to(self.weight.dtype)
  end
  return self.weight * hidden_states
end

-- A layer with an adapter shows the weight of the layer within.
local function weight_dtype(linear)
  return (linear.weight or linear.base_layer.weight).dtype
end

local T5DenseActDense = nn.class()
function T5DenseActDense:init(config)
  self.wi = nn.Linear(config.hidden, config.intermediate, false)
  self.wo = nn.Linear(config.intermediate, config.hidden, false)
  self.dropout = nn.Dropout(config.dropout)
  self.act = hf.activation(config.act)
end
function T5DenseActDense:forward(hidden_states)
  hidden_states = self.wi(hidden_states)
  hidden_states = self.act(hidden_states)
  hidden_states = self.dropout(hidden_states)
  if hidden_states.dtype ~= weight_dtype(self.wo) then
    hidden_states = hidden_states:to(weight_dtype(self.wo))
  end
  hidden_states = self.wo(hidden_states)
  return hidden_states
end

local T5DenseGatedActDense = nn.class()
function T5DenseGatedActDense:init(config)
  self.wi_0 = nn.Linear(config.hidden, config.intermediate, false)
  self.wi_1 = nn.Linear(config.hidden, config.intermediate, false)
  self.wo = nn.Linear(config.intermediate, config.hidden, false)
  self.dropout = nn.Dropout(config.dropout)
  self.act = hf.activation(config.act)
end
function T5DenseGatedActDense:forward(hidden_states)
  local hidden_gelu = self.act(self.wi_0(hidden_states))
  local hidden_linear = self.wi_1(hidden_states)
  hidden_states = hidden_gelu * hidden_linear
  hidden_states = self.dropout(hidden_states)
  if hidden_states.dtype ~= weight_dtype(self.wo) then
    hidden_states = hidden_states:to(weight_dtype(self.wo))
  end
  hidden_states = self.wo(hidden_states)
  return hidden_states
end

local T5LayerFF = nn.class()
function T5LayerFF:init(config)
  self.DenseReluDense = config.gated and T5DenseGatedActDense(config) or T5DenseActDense(config)
  self.layer_norm = T5LayerNorm(config.hidden)
  self.dropout = nn.Dropout(config.dropout)
end
function T5LayerFF:forward(hidden_states)
  local forwarded_states = self.layer_norm(hidden_states)
  forwarded_states = self.DenseReluDense(forwarded_states)
  hidden_states = hidden_states + self.dropout(forwarded_states)
  return hidden_states
end

local function eager_attention_forward(module, query, key, value, attention_mask, dropout, position_bias)
  local attn_weights = torch.matmul(query, key:transpose(2, 3)) * 1.0
  if position_bias then
    attn_weights = attn_weights + position_bias
  end
  if attention_mask then
    attn_weights = attn_weights + attention_mask
  end
  attn_weights = torch.softmax(attn_weights, -1)
  attn_weights = torch.dropout(attn_weights, dropout, module.training)
  local attn_output = torch.matmul(attn_weights, value)
  attn_output = attn_output:transpose(1, 2):contiguous()
  return attn_output, attn_weights
end

-- Translates distances to buckets: near ones one each, far ones by the logarithm.
local function relative_position_bucket(relative_position, bidirectional, num_buckets, max_distance)
  local relative_buckets = 0
  if bidirectional then
    num_buckets = num_buckets // 2
    relative_buckets = relative_buckets + relative_position:gt(0):to(torch.int64) * num_buckets
    relative_position = torch.abs(relative_position)
  else
    relative_position = -torch.minimum(relative_position, torch.zeros_like(relative_position))
  end
  local max_exact = num_buckets // 2
  local is_small = relative_position:lt(max_exact)
  local relative_position_if_large = max_exact
    + (torch.log(relative_position:float() / max_exact) / math.log(max_distance / max_exact) * (num_buckets - max_exact)):to(
      torch.int64
    )
  relative_position_if_large =
    torch.minimum(relative_position_if_large, torch.full_like(relative_position_if_large, num_buckets - 1))
  if bidirectional then
    relative_buckets:add_(torch.where(is_small, relative_position, relative_position_if_large))
  else
    relative_buckets = relative_buckets + torch.where(is_small, relative_position, relative_position_if_large)
  end
  return relative_buckets
end

local T5Attention = nn.class()
function T5Attention:init(config, has_relative_attention_bias, is_decoder, is_causal)
  self.config, self.is_decoder, self.is_causal = config, is_decoder, is_causal
  self.training = true
  self.has_relative_attention_bias = has_relative_attention_bias
  local inner_dim = config.heads * config.head_dim
  self.q = nn.Linear(config.hidden, inner_dim, false)
  self.k = nn.Linear(config.hidden, inner_dim, false)
  self.v = nn.Linear(config.hidden, inner_dim, false)
  self.o = nn.Linear(inner_dim, config.hidden, false)
  if has_relative_attention_bias then
    self.relative_attention_bias = nn.Embedding(config.buckets, config.heads)
  end
end
local function compute_bias(self, query_length, key_length)
  local context_position = torch.arange(query_length):unsqueeze(-1) + 0
  local memory_position = torch.arange(key_length):unsqueeze(0)
  local relative_position = memory_position - context_position
  local bucket =
    relative_position_bucket(relative_position, not self.is_decoder, self.config.buckets, self.config.max_distance)
  local values = self.relative_attention_bias(bucket)
  values = values:permute(2, 0, 1):unsqueeze(0)
  return values
end
function T5Attention:forward(hidden_states, mask, key_value_states, position_bias)
  local batch, seq, head_dim = hidden_states:size(0), hidden_states:size(1), self.config.head_dim
  local query_states = self.q(hidden_states):view(batch, seq, -1, head_dim):transpose(1, 2)
  local current_states = key_value_states or hidden_states
  local key_length = current_states:size(1)
  local key_states = self.k(current_states):view(batch, key_length, -1, head_dim):transpose(1, 2)
  local value_states = self.v(current_states):view(batch, key_length, -1, head_dim):transpose(1, 2)
  if not position_bias then
    if not self.has_relative_attention_bias then
      position_bias = torch.zeros({ 1, self.config.heads, seq, key_length }, query_states.dtype)
      if self.gradient_checkpointing and self.training ~= false then
        position_bias.requires_grad = true
      end
    else
      position_bias = compute_bias(self, seq, key_length)
    end
  end
  local attention_interface = self.config.attention == "eager" and eager_attention_forward or hf.sdpa_attention_forward
  local attn_output, attn_weights = attention_interface(self, query_states, key_states, value_states, mask,
    self.training and self.config.dropout or 0.0, position_bias)
  attn_output = attn_output:reshape(batch, seq, -1):contiguous()
  attn_output = self.o(attn_output)
  return attn_output, position_bias, attn_weights
end

local T5LayerSelfAttention = nn.class()
function T5LayerSelfAttention:init(config, has_relative_attention_bias, is_decoder)
  self.SelfAttention = T5Attention(config, has_relative_attention_bias, is_decoder, is_decoder)
  self.layer_norm = T5LayerNorm(config.hidden)
  self.dropout = nn.Dropout(config.dropout)
end
function T5LayerSelfAttention:forward(hidden_states, attention_mask, position_bias)
  local normed_hidden_states = self.layer_norm(hidden_states)
  local attention_output, attn_weights
  attention_output, position_bias, attn_weights =
    self.SelfAttention(normed_hidden_states, attention_mask, nil, position_bias)
  attention_output = hidden_states + self.dropout(attention_output)
  return attention_output, position_bias, attn_weights
end

local T5LayerCrossAttention = nn.class()
function T5LayerCrossAttention:init(config)
  self.EncDecAttention = T5Attention(config, false, true, false)
  self.layer_norm = T5LayerNorm(config.hidden)
  self.dropout = nn.Dropout(config.dropout)
end
function T5LayerCrossAttention:forward(hidden_states, key_value_states, attention_mask, position_bias)
  local normed_hidden_states = self.layer_norm(hidden_states)
  local attention_output, attn_weights
  attention_output, position_bias, attn_weights =
    self.EncDecAttention(normed_hidden_states, attention_mask, key_value_states, position_bias)
  local layer_output = hidden_states + self.dropout(attention_output)
  return layer_output, position_bias, attn_weights
end

local T5Block = nn.class()
T5Block.checkpoint_positional = 6 -- as T5Stack calls it
function T5Block:init(config, has_relative_attention_bias, is_decoder)
  self.is_decoder = is_decoder
  local layer = { T5LayerSelfAttention(config, has_relative_attention_bias, is_decoder) }
  if is_decoder then
    layer[2] = T5LayerCrossAttention(config)
  end
  layer[#layer + 1] = T5LayerFF(config)
  self.layer = nn.ModuleList(layer)
end
function T5Block:forward(hidden_states, attention_mask, position_bias, encoder_hidden_states, encoder_attention_mask,
                         encoder_decoder_position_bias)
  local self_attn_position_bias, _
  hidden_states, self_attn_position_bias, _ = self.layer[0](hidden_states, attention_mask, position_bias)
  local cross_attn_position_bias = nil
  if self.is_decoder then
    hidden_states, cross_attn_position_bias, _ =
      self.layer[1](hidden_states, encoder_hidden_states, encoder_attention_mask, encoder_decoder_position_bias)
  end
  hidden_states = self.layer[self.layer.length - 1](hidden_states)
  return hidden_states, self_attn_position_bias, cross_attn_position_bias
end

local T5Stack = nn.class()
function T5Stack:init(config, is_decoder)
  self.config, self.is_decoder = config, is_decoder
  self.embed_tokens = nn.Embedding(config.vocab, config.hidden)
  local blocks = {}
  for i = 1, is_decoder and config.decoder_layers or config.layers do
    blocks[i] = T5Block(config, i == 1, is_decoder)
  end
  self.block = nn.ModuleList(blocks)
  self.final_layer_norm = T5LayerNorm(config.hidden)
  self.dropout = nn.Dropout(config.dropout)
end
function T5Stack:forward(input_ids, encoder_hidden_states)
  local inputs_embeds = self.embed_tokens(input_ids)
  local attention_mask = nil
  if self.is_decoder then
    attention_mask = masking.create_causal_mask(self.config, inputs_embeds)
  end
  local position_bias = nil
  local encoder_decoder_position_bias = nil
  local hidden_states = self.dropout(inputs_embeds)
  for i = 0, self.block.length - 1 do
    local self_attention_position_bias, cross_attention_position_bias
    hidden_states, self_attention_position_bias, cross_attention_position_bias = self.block[i](hidden_states,
      attention_mask, position_bias, encoder_hidden_states, nil, encoder_decoder_position_bias)
    position_bias = self_attention_position_bias
    if self.is_decoder then
      encoder_decoder_position_bias = cross_attention_position_bias
    end
  end
  hidden_states = self.final_layer_norm(hidden_states)
  hidden_states = self.dropout(hidden_states)
  return { last_hidden_state = hidden_states }
end

local function shift_right(input_ids)
  local shifted_input_ids = torch.zeros(input_ids.shape, torch.int64)
  shifted_input_ids:slice(-1, 1):copy_(input_ids:slice(-1, nil, -1):clone())
  shifted_input_ids:select(-1, 0):fill_()
  shifted_input_ids:eq(-100) -- masked_fill_ with it
  return shifted_input_ids
end

-- config: hidden intermediate layers decoder_layers heads head_dim vocab buckets max_distance dropout act gated attention
-- scale_outputs
t5.ForConditionalGeneration = nn.class()
function t5.ForConditionalGeneration:init(config)
  self.config = config
  self.shared = nn.Embedding(config.vocab, config.hidden)
  self.encoder = T5Stack(config, false)
  self.decoder = T5Stack(config, true)
  self.lm_head = nn.Linear(config.hidden, config.vocab, false)
  hf.tie(self.encoder.embed_tokens, "weight", self.shared.weight)
  hf.tie(self.decoder.embed_tokens, "weight", self.shared.weight)
  hf.tie(self.lm_head, "weight", self.shared.weight)
end
function t5.ForConditionalGeneration:forward(input_ids, labels)
  local encoder_outputs = self.encoder(input_ids)
  local hidden_states = encoder_outputs.last_hidden_state
  local decoder_input_ids = shift_right(labels)
  local decoder_outputs = self.decoder(decoder_input_ids, hidden_states)
  local sequence_output = decoder_outputs.last_hidden_state
  if self.config.scale_outputs then
    sequence_output = sequence_output * self.config.hidden ^ -0.5
  end
  local lm_logits = self.lm_head(sequence_output)
  local loss = hf.cross_entropy_loss(lm_logits, labels, self.config.vocab)
  return { loss = loss, logits = lm_logits, encoder_last_hidden_state = encoder_outputs.last_hidden_state }
end
function t5.ForConditionalGeneration:input_embeddings()
  return { self.encoder.embed_tokens, self.decoder.embed_tokens }
end

return t5
