-- modeling_whisper.lua: WhisperForConditionalGeneration as Transformers 5.24 runs it (models/whisper/modeling_whisper.py),
-- name by name: two convolutions over the spectrogram, an encoder, a decoder.
local nn = use "nn"
local masking = use "masking"
local hf = use "hf"
local whisper = {}

local function eager_attention_forward(module, query, key, value, attention_mask, dropout)
  local attn_weights = torch.matmul(query, key:transpose(2, 3)) * 1.0
  if attention_mask then
    attn_weights = attn_weights + attention_mask
  end
  attn_weights = torch.softmax(attn_weights, -1)
  attn_weights = torch.dropout(attn_weights, dropout, module.training)
  local attn_output = torch.matmul(attn_weights, value)
  attn_output = attn_output:transpose(1, 2):contiguous()
  return attn_output, attn_weights
end

local WhisperAttention = nn.class()
function WhisperAttention:init(config, heads, is_causal)
  self.head_dim = config.hidden // heads
  self.scaling = self.head_dim ^ -0.5
  self.dropout = config.attention_dropout
  self.attention = config.attention
  self.is_causal = is_causal
  self.training = true
  self.k_proj = nn.Linear(config.hidden, config.hidden, false)
  self.v_proj = nn.Linear(config.hidden, config.hidden)
  self.q_proj = nn.Linear(config.hidden, config.hidden)
  self.out_proj = nn.Linear(config.hidden, config.hidden)
end
function WhisperAttention:forward(hidden_states, key_value_states, attention_mask)
  local batch, seq = hidden_states:size(0), hidden_states:size(1)
  local query_states =
    (self.q_proj(hidden_states) * self.scaling):view(batch, seq, -1, self.head_dim):transpose(1, 2):contiguous()
  local current_states = key_value_states or hidden_states
  local length = current_states:size(1)
  local key_states = self.k_proj(current_states):view(batch, length, -1, self.head_dim):transpose(1, 2):contiguous()
  local value_states = self.v_proj(current_states):view(batch, length, -1, self.head_dim):transpose(1, 2):contiguous()
  local attention_interface = self.attention == "eager" and eager_attention_forward or hf.sdpa_attention_forward
  local attn_output, attn_weights = attention_interface(self, query_states, key_states, value_states, attention_mask,
    self.training and self.dropout or 0.0)
  attn_output = attn_output:reshape(batch, seq, -1):contiguous()
  attn_output = self.out_proj(attn_output)
  return attn_output, attn_weights
end

-- the MLP of either layer
local function feed_forward(layer, hidden_states)
  local residual = hidden_states
  hidden_states = layer.final_layer_norm(hidden_states)
  hidden_states = layer.activation_fn(layer.fc1(hidden_states))
  hidden_states = torch.dropout(hidden_states, layer.activation_dropout, layer.training)
  hidden_states = layer.fc2(hidden_states)
  hidden_states = torch.dropout(hidden_states, layer.dropout, layer.training)
  hidden_states = residual + hidden_states
  return hidden_states
end

local WhisperEncoderLayer = nn.class()
function WhisperEncoderLayer:init(config)
  self.training = true
  self.self_attn = WhisperAttention(config, config.encoder_heads, false)
  self.self_attn_layer_norm = nn.LayerNorm(config.hidden)
  self.dropout, self.activation_dropout = config.dropout, config.activation_dropout
  self.activation_fn = hf.activation(config.act)
  self.fc1 = nn.Linear(config.hidden, config.encoder_intermediate)
  self.fc2 = nn.Linear(config.encoder_intermediate, config.hidden)
  self.final_layer_norm = nn.LayerNorm(config.hidden)
end
function WhisperEncoderLayer:forward(hidden_states)
  local residual = hidden_states
  hidden_states = self.self_attn_layer_norm(hidden_states)
  local _
  hidden_states, _ = self.self_attn(hidden_states)
  hidden_states = torch.dropout(hidden_states, self.dropout, self.training)
  hidden_states = residual + hidden_states
  residual = nil
  hidden_states = feed_forward(self, hidden_states)
  if hidden_states.dtype == torch.float16 then
    hidden_states = torch.clamp(hidden_states, -64504.0, 64504.0)
  end
  return hidden_states
end

local WhisperDecoderLayer = nn.class()
WhisperDecoderLayer.checkpoint_positional = 3
function WhisperDecoderLayer:init(config)
  self.training = true
  self.self_attn = WhisperAttention(config, config.decoder_heads, true)
  self.dropout, self.activation_dropout = config.dropout, config.activation_dropout
  self.activation_fn = hf.activation(config.act)
  self.self_attn_layer_norm = nn.LayerNorm(config.hidden)
  self.encoder_attn = WhisperAttention(config, config.decoder_heads, false)
  self.encoder_attn_layer_norm = nn.LayerNorm(config.hidden)
  self.fc1 = nn.Linear(config.hidden, config.decoder_intermediate)
  self.fc2 = nn.Linear(config.decoder_intermediate, config.hidden)
  self.final_layer_norm = nn.LayerNorm(config.hidden)
end
function WhisperDecoderLayer:forward(hidden_states, attention_mask, encoder_hidden_states)
  local residual = hidden_states
  hidden_states = self.self_attn_layer_norm(hidden_states)
  local _
  hidden_states, _ = self.self_attn(hidden_states, nil, attention_mask)
  hidden_states = torch.dropout(hidden_states, self.dropout, self.training)
  hidden_states = residual + hidden_states
  residual = hidden_states
  hidden_states = self.encoder_attn_layer_norm(hidden_states)
  hidden_states, _ = self.encoder_attn(hidden_states, encoder_hidden_states)
  hidden_states = torch.dropout(hidden_states, self.dropout, self.training)
  hidden_states = residual + hidden_states
  residual = nil
  hidden_states = feed_forward(self, hidden_states)
  return hidden_states
end

local function sinusoids(length, channels)
  local inv_timescales = torch.exp(-1.0 * torch.arange(channels // 2))
  local scaled_time = torch.arange(length):view(-1, 1) * inv_timescales:view(1, -1)
  return torch.cat({ scaled_time:sin(), scaled_time:cos() }, 1)
end

local WhisperEncoder = nn.class()
function WhisperEncoder:init(config)
  self.config, self.training = config, true
  self.conv1 = nn.Conv1d(config.mel_bins, config.hidden, 3, { padding = 1 })
  self.conv2 = nn.Conv1d(config.hidden, config.hidden, 3, { stride = 2, padding = 1 })
  self.embed_positions = nn.Embedding(config.source_positions, config.hidden)
  self.embed_positions.weight.requires_grad = false
  local layers = {}
  for i = 1, config.encoder_layers do
    layers[i] = WhisperEncoderLayer(config)
  end
  self.layers = nn.ModuleList(layers)
  self.layer_norm = nn.LayerNorm(config.hidden)
end
function WhisperEncoder:init_weights(config)
  self.embed_positions.weight:copy_(sinusoids(config.source_positions, config.hidden))
end
function WhisperEncoder:forward(input_features)
  local inputs_embeds = torch.gelu(self.conv1(input_features))
  inputs_embeds = torch.gelu(self.conv2(inputs_embeds))
  inputs_embeds = inputs_embeds:permute(0, 2, 1)
  local all_positions = torch.arange(self.config.source_positions)
  local hidden_states = inputs_embeds + self.embed_positions(all_positions)
  hidden_states = torch.dropout(hidden_states, self.config.dropout, self.training)
  for i = 0, self.layers.length - 1 do
    hidden_states = self.layers[i](hidden_states)
  end
  hidden_states = self.layer_norm(hidden_states)
  return { last_hidden_state = hidden_states }
end

local WhisperDecoder = nn.class()
function WhisperDecoder:init(config)
  self.config, self.training = config, true
  self.embed_tokens = nn.Embedding(config.vocab, config.hidden)
  self.embed_positions = nn.Embedding(config.target_positions, config.hidden)
  local layers = {}
  for i = 1, config.decoder_layers do
    layers[i] = WhisperDecoderLayer(config)
  end
  self.layers = nn.ModuleList(layers)
  self.layer_norm = nn.LayerNorm(config.hidden)
end
function WhisperDecoder:forward(input_ids, encoder_hidden_states)
  local inputs_embeds = self.embed_tokens(input_ids)
  local position_ids = torch.arange(inputs_embeds:size(1)) + 0
  position_ids = torch["repeat"](position_ids:unsqueeze(0), inputs_embeds:size(0), 1)
  local positions = self.embed_positions.weight:index(position_ids)
  local hidden_states = inputs_embeds + positions
  hidden_states = torch.dropout(hidden_states, self.config.dropout, self.training)
  local causal_mask = masking.create_causal_mask(self.config, inputs_embeds, nil, position_ids)
  for i = 0, self.layers.length - 1 do
    hidden_states = self.layers[i](hidden_states, causal_mask, encoder_hidden_states)
  end
  hidden_states = self.layer_norm(hidden_states)
  return { last_hidden_state = hidden_states }
end

local WhisperModel = nn.class()
function WhisperModel:init(config)
  self.encoder = WhisperEncoder(config)
  self.encoder:init_weights(config) -- its post_init
  self.decoder = WhisperDecoder(config)
end
function WhisperModel:forward(input_features, decoder_input_ids)
  local encoder_outputs = self.encoder(input_features)
  local decoder_outputs = self.decoder(decoder_input_ids, encoder_outputs.last_hidden_state)
  return {
    last_hidden_state = decoder_outputs.last_hidden_state,
    encoder_last_hidden_state = encoder_outputs.last_hidden_state,
  }
end

local function shift_tokens_right(input_ids)
  local shifted_input_ids = torch.zeros(input_ids.shape, torch.int64)
  shifted_input_ids:slice(1, 1):copy_(input_ids:slice(1, nil, -1):clone())
  shifted_input_ids:select(1, 0):fill_()
  shifted_input_ids:eq(-100) -- masked_fill_ with it
  return shifted_input_ids
end

-- config: hidden encoder_layers encoder_heads encoder_intermediate decoder_layers decoder_heads decoder_intermediate vocab
-- mel_bins source_positions target_positions dropout attention_dropout activation_dropout act attention tie_embeddings
whisper.ForConditionalGeneration = nn.class()
function whisper.ForConditionalGeneration:init(config)
  self.config = config
  self.model = WhisperModel(config)
  self.proj_out = nn.Linear(config.hidden, config.vocab, false)
  if config.tie_embeddings then
    hf.tie(self.proj_out, "weight", self.model.decoder.embed_tokens.weight)
  end
end
function whisper.ForConditionalGeneration:forward(input_features, labels)
  local decoder_input_ids = shift_tokens_right(labels)
  local outputs = self.model(input_features, decoder_input_ids)
  local lm_logits = self.proj_out(outputs.last_hidden_state)
  local loss = hf.cross_entropy_loss(lm_logits, labels, self.config.vocab)
  return { loss = loss, logits = lm_logits, encoder_last_hidden_state = outputs.encoder_last_hidden_state }
end
function whisper.ForConditionalGeneration:input_embeddings()
  return { self.model.decoder.embed_tokens, self.model.encoder.conv1 }
end

return whisper
