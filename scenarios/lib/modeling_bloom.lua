-- modeling_bloom.lua: BloomForCausalLM as Transformers 5.24 runs it (models/bloom/modeling_bloom.py), name by name: ALiBi
-- instead of positions, eager attention by baddbmm, a GELU with a backward of its own.
local nn = use "nn"
local masking = use "masking"
local hf = use "hf"
local bloom = {}

local GeLUFunction = torch.autograd_function {
  name = "GeLUFunction",
  forward = function(ctx, x)
    ctx.saved = { x }
    return x * 0.5 * (1.0 + torch.tanh(0.79788456 * x * (1 + 0.044715 * x * x)))
  end,
  backward = function(_, saved, g)
    local x = saved[1]
    local tanh_out = torch.tanh(0.79788456 * x * (1 + 0.044715 * x * x))
    local ff = 0.5 * x * ((1 - tanh_out * tanh_out) * (0.79788456 + 0.1070322243 * x * x)) + 0.5 * (1 + tanh_out)
    return ff * g
  end,
}

local BloomGelu = nn.class()
function BloomGelu:init() end
function BloomGelu:forward(x)
  return GeLUFunction(x)
end

local function get_alibi_slopes(num_heads)
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
  return slopes
end

local function dropout_add(x, residual, prob, training)
  local out = torch.dropout(x, prob, training)
  out = residual + out
  return out
end

-- slow_but_exact with pretraining_tp > 1: the sum of products of slices, without the bias.
local function sliced(dense, input, like, parts)
  local output = torch.zeros_like(like)
  local width = dense.weight:size(-1)
  for i = 0, parts - 1 do
    local from, to = i * width // parts, (i + 1) * width // parts
    output = output + torch.linear(input:slice(2, from, to), dense.weight:slice(1, from, to))
  end
  return output
end

local BloomAttention = nn.class()
function BloomAttention:init(config)
  self.hidden, self.heads, self.head_dim = config.hidden, config.heads, config.hidden // config.heads
  self.hidden_dropout, self.training, self.slices = config.dropout, true, config.slices or 1
  self.query_key_value = nn.Linear(config.hidden, 3 * config.hidden)
  self.dense = nn.Linear(config.hidden, config.hidden)
  self.attention_dropout = nn.Dropout(config.attention_dropout)
end
local function split_qkv(self, fused_qkv)
  local batch_size, seq_length = fused_qkv:size(0), fused_qkv:size(1)
  fused_qkv = fused_qkv:view(batch_size, seq_length, self.heads, 3, self.head_dim)
  local query_layer = fused_qkv:select(3, 0):transpose(1, 2)
  local key_layer = fused_qkv:select(3, 1):transpose(1, 2)
  local value_layer = fused_qkv:select(3, 2):transpose(1, 2)
  return query_layer, key_layer, value_layer
end
local function merge_heads(self, x)
  local batch_size, seq_length = x:size(0) // self.heads, x:size(1)
  x = x:view(batch_size, self.heads, seq_length, self.head_dim)
  x = x:permute(0, 2, 1, 3)
  return x:reshape(batch_size, seq_length, self.heads * self.head_dim)
end
function BloomAttention:forward(hidden_states, residual, alibi, attention_mask)
  local batch_size, q_length = hidden_states:size(0), hidden_states:size(1)
  local fused_qkv = self.query_key_value(hidden_states)
  local query_layer, key_layer, value_layer = split_qkv(self, fused_qkv)
  query_layer = query_layer:reshape(batch_size * self.heads, -1, self.head_dim)
  key_layer = key_layer:reshape(batch_size * self.heads, -1, self.head_dim):transpose(-1, -2)
  value_layer = value_layer:reshape(batch_size * self.heads, -1, self.head_dim)
  local attention_scores = torch.baddbmm(alibi, query_layer, key_layer, 1.0, 1.0 / math.sqrt(self.head_dim))
  local attn_weights = attention_scores:view(batch_size, self.heads, q_length, -1)
  if attention_mask then
    attn_weights = attn_weights + attention_mask
  end
  local attention_probs = torch.softmax(attn_weights, -1, torch.float32):to(query_layer.dtype)
  attention_probs = self.attention_dropout(attention_probs)
  local attention_probs_reshaped = attention_probs:view(batch_size * self.heads, q_length, -1)
  local context_layer = torch.bmm(attention_probs_reshaped, value_layer)
  context_layer = merge_heads(self, context_layer)
  local output_tensor
  if self.slices > 1 then
    output_tensor = sliced(self.dense, context_layer, context_layer, self.slices)
  else
    output_tensor = self.dense(context_layer)
  end
  output_tensor = dropout_add(output_tensor, residual, self.hidden_dropout, self.training)
  return output_tensor, attention_probs
end

local BloomMLP = nn.class()
function BloomMLP:init(config)
  self.dense_h_to_4h = nn.Linear(config.hidden, 4 * config.hidden)
  self.gelu_impl = BloomGelu()
  self.dense_4h_to_h = nn.Linear(4 * config.hidden, config.hidden)
  self.hidden_dropout, self.training, self.slices = config.dropout, true, config.slices or 1
end
function BloomMLP:forward(hidden_states, residual)
  hidden_states = self.gelu_impl(self.dense_h_to_4h(hidden_states))
  local intermediate_output
  if self.slices > 1 then
    intermediate_output = sliced(self.dense_4h_to_h, hidden_states, residual, self.slices)
  else
    intermediate_output = self.dense_4h_to_h(hidden_states)
  end
  local output = dropout_add(intermediate_output, residual, self.hidden_dropout, self.training)
  return output
end

local BloomBlock = nn.class()
function BloomBlock:init(config)
  self.residual_after_norm = config.residual_after_norm
  self.input_layernorm = nn.LayerNorm(config.hidden)
  self.self_attention = BloomAttention(config)
  self.post_attention_layernorm = nn.LayerNorm(config.hidden)
  self.mlp = BloomMLP(config)
end
function BloomBlock:forward(hidden_states, alibi, attention_mask)
  local layernorm_output = self.input_layernorm(hidden_states)
  local residual = self.residual_after_norm and layernorm_output or hidden_states
  local attention_output, attn_weights = self.self_attention(layernorm_output, residual, alibi, attention_mask)
  layernorm_output = self.post_attention_layernorm(attention_output)
  residual = self.residual_after_norm and layernorm_output or attention_output
  local output = self.mlp(layernorm_output, residual)
  return output, attn_weights
end

local BloomModel = nn.class()
function BloomModel:init(config)
  self.config = config
  self.word_embeddings = nn.Embedding(config.vocab, config.hidden)
  self.word_embeddings_layernorm = nn.LayerNorm(config.hidden)
  local blocks = {}
  for i = 1, config.layers do
    blocks[i] = BloomBlock(config)
  end
  self.h = nn.ModuleList(blocks)
  self.ln_f = nn.LayerNorm(config.hidden)
end
function BloomModel:forward(input_ids)
  local inputs_embeds = self.word_embeddings(input_ids)
  local batch_size, seq_length = inputs_embeds:size(0), inputs_embeds:size(1)
  local hidden_states = self.word_embeddings_layernorm(inputs_embeds)
  local slopes = get_alibi_slopes(self.config.heads)
  local alibi = slopes:view(-1, 1, 1) * torch.arange(seq_length)
  alibi = torch["repeat"](alibi, batch_size, 1, 1):to(hidden_states.dtype)
  local causal_mask = masking.create_causal_mask(self.config, inputs_embeds)
  local outputs
  for i = 0, self.h.length - 1 do
    outputs = { self.h[i](hidden_states, alibi, causal_mask) }
    hidden_states = outputs[1]
  end
  hidden_states = self.ln_f(hidden_states)
  return { last_hidden_state = hidden_states }
end

-- config: hidden layers heads vocab dropout attention_dropout tie_embeddings residual_after_norm (apply_residual_connection_post_layernorm); the
-- MLP is 4 * hidden wide
bloom.ForCausalLM = nn.class()
function bloom.ForCausalLM:init(config)
  config.attention = "eager"
  self.config = config
  self.transformer = BloomModel(config)
  self.lm_head = nn.Linear(config.hidden, config.vocab, false)
  if config.tie_embeddings then
    hf.tie(self.lm_head, "weight", self.transformer.word_embeddings.weight)
  end
end
function bloom.ForCausalLM:forward(input_ids, labels)
  local transformer_outputs = self.transformer(input_ids)
  local hidden_states = transformer_outputs.last_hidden_state
  local logits = self.lm_head(hidden_states)
  local loss = nil
  if labels then
    loss = hf.for_causal_lm_loss(logits, labels, self.config.vocab)
  end
  return { loss = loss, logits = logits }
end

return bloom
