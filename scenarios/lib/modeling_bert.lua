-- modeling_bert.lua: BertForMaskedLM and RobertaForMaskedLM as Transformers 5.24 runs them (models/bert, models/roberta),
-- name by name. They differ in the position ids and the head.
local nn = use "nn"
local hf = use "hf"
local bert = {}

local Embeddings = nn.class()
function Embeddings:init(config)
  self.roberta = config.roberta
  self.word_embeddings = nn.Embedding(config.vocab, config.hidden)
  if not self.roberta then
    self.position_embeddings = nn.Embedding(config.positions, config.hidden)
  end
  self.token_type_embeddings = nn.Embedding(config.token_types, config.hidden)
  self.LayerNorm = nn.LayerNorm(config.hidden)
  self.dropout = nn.Dropout(config.dropout)
  self.position_ids = nn.Buffer(torch.arange(config.positions):expand(1, -1))
  self.token_type_ids = nn.Buffer(torch.zeros({ 1, config.positions }, torch.int64))
  if self.roberta then
    self.position_embeddings = nn.Embedding(config.positions, config.hidden)
  end
end
function Embeddings:init_weights(config)
  self.position_ids:copy_(torch.arange(config.positions):expand(1, -1))
end
-- roberta: positions count the tokens that are no padding
local function create_position_ids_from_input_ids(input_ids)
  local mask = input_ids:ne(1):to(torch.int32)
  local incremental_indices = (torch.cumsum(mask, 1):to(torch.int32) + 0) * mask
  return incremental_indices:to(torch.int64) + 1
end
function Embeddings:forward(input_ids)
  local batch_size, seq_length = table.unpack(input_ids.shape)
  local position_ids
  if self.roberta then
    position_ids = create_position_ids_from_input_ids(input_ids)
  else
    position_ids = self.position_ids:slice(1, 0, seq_length)
  end
  local buffered_token_type_ids = self.token_type_ids:expand(position_ids:size(0), -1)
  buffered_token_type_ids = torch.gather(buffered_token_type_ids, 1, position_ids)
  local token_type_ids = buffered_token_type_ids:expand(batch_size, seq_length)
  local inputs_embeds = self.word_embeddings(input_ids)
  local token_type_embeddings = self.token_type_embeddings(token_type_ids)
  local embeddings = inputs_embeds + token_type_embeddings
  local position_embeddings = self.position_embeddings(position_ids)
  embeddings = embeddings + position_embeddings
  embeddings = self.LayerNorm(embeddings)
  embeddings = self.dropout(embeddings)
  return embeddings
end

local function eager_attention_forward(module, query, key, value, attention_mask, dropout)
  local attn_weights = torch.matmul(query, key:transpose(2, 3)) * module.scaling
  if attention_mask then
    attn_weights = attn_weights + attention_mask
  end
  attn_weights = torch.softmax(attn_weights, -1)
  attn_weights = torch.dropout(attn_weights, dropout, module.training)
  local attn_output = torch.matmul(attn_weights, value)
  attn_output = attn_output:transpose(1, 2):contiguous()
  return attn_output, attn_weights
end

local SelfAttention = nn.class()
function SelfAttention:init(config)
  self.head_size = config.hidden // config.heads
  self.scaling = self.head_size ^ -0.5
  self.query = nn.Linear(config.hidden, config.hidden)
  self.key = nn.Linear(config.hidden, config.hidden)
  self.value = nn.Linear(config.hidden, config.hidden)
  self.dropout = nn.Dropout(config.attention_dropout)
  self.attention = config.attention
  self.is_causal = false
  self.training = true
end
function SelfAttention:forward(hidden_states, attention_mask)
  local batch, seq = hidden_states:size(0), hidden_states:size(1)
  local query_layer = self.query(hidden_states):view(batch, seq, -1, self.head_size):transpose(1, 2)
  local key_layer = self.key(hidden_states):view(batch, seq, -1, self.head_size):transpose(1, 2)
  local value_layer = self.value(hidden_states):view(batch, seq, -1, self.head_size):transpose(1, 2)
  local attention_interface = self.attention == "eager" and eager_attention_forward or hf.sdpa_attention_forward
  local attn_output, attn_weights = attention_interface(self, query_layer, key_layer, value_layer, attention_mask,
    self.training and self.dropout.p or 0.0)
  attn_output = attn_output:reshape(batch, seq, -1):contiguous()
  return attn_output, attn_weights
end

-- BertSelfOutput and BertOutput
local Output = nn.class()
function Output:init(config, in_features)
  self.dense = nn.Linear(in_features, config.hidden)
  self.LayerNorm = nn.LayerNorm(config.hidden)
  self.dropout = nn.Dropout(config.dropout)
end
function Output:forward(hidden_states, input_tensor)
  hidden_states = self.dense(hidden_states)
  hidden_states = self.dropout(hidden_states)
  hidden_states = self.LayerNorm(hidden_states + input_tensor)
  return hidden_states
end

local Attention = nn.class()
function Attention:init(config)
  self.self = SelfAttention(config)
  self.output = Output(config, config.hidden)
end
function Attention:forward(hidden_states, attention_mask)
  local attention_output, attn_weights = self.self(hidden_states, attention_mask)
  attention_output = self.output(attention_output, hidden_states)
  return attention_output, attn_weights
end

local Intermediate = nn.class()
function Intermediate:init(config)
  self.dense = nn.Linear(config.hidden, config.intermediate)
  self.intermediate_act_fn = hf.activation(config.act)
end
function Intermediate:forward(hidden_states)
  hidden_states = self.dense(hidden_states)
  hidden_states = self.intermediate_act_fn(hidden_states)
  return hidden_states
end

local Layer = nn.class()
function Layer:init(config)
  self.attention = Attention(config)
  self.intermediate = Intermediate(config)
  self.output = Output(config, config.intermediate)
end
function Layer:forward(hidden_states, attention_mask)
  local self_attention_output, _ = self.attention(hidden_states, attention_mask)
  local attention_output = self_attention_output
  local function feed_forward_chunk(states)
    local intermediate_output = self.intermediate(states)
    local layer_output = self.output(intermediate_output, states)
    return layer_output
  end
  local layer_output = feed_forward_chunk(attention_output)
  return layer_output
end

local Encoder = nn.class()
function Encoder:init(config)
  local layers = {}
  for i = 1, config.layers do
    layers[i] = Layer(config)
  end
  self.layer = nn.ModuleList(layers)
end
function Encoder:forward(hidden_states, attention_mask)
  for i = 0, self.layer.length - 1 do
    hidden_states = self.layer[i](hidden_states, attention_mask)
  end
  return { last_hidden_state = hidden_states }
end

local Model = nn.class()
bert.Model = Model
-- pooler: the class of a head on the first token, nil: none
function Model:init(config, pooler)
  self.embeddings = Embeddings(config)
  self.encoder = Encoder(config)
  if pooler then
    self.pooler = pooler(config)
  end
  self.embeddings:init_weights(config) -- post_init
end
-- Without padding the bidirectional mask is none, for eager and sdpa.
function Model:forward(input_ids)
  local embedding_output = self.embeddings(input_ids)
  local encoder_outputs = self.encoder(embedding_output, nil)
  local sequence_output = encoder_outputs.last_hidden_state
  local pooled_output = self.pooler and self.pooler(sequence_output) or nil
  return { last_hidden_state = sequence_output, pooler_output = pooled_output }
end

local PredictionHeadTransform = nn.class()
function PredictionHeadTransform:init(config)
  self.dense = nn.Linear(config.hidden, config.hidden)
  self.transform_act_fn = hf.activation(config.act)
  self.LayerNorm = nn.LayerNorm(config.hidden)
end
function PredictionHeadTransform:forward(hidden_states)
  hidden_states = self.dense(hidden_states)
  hidden_states = self.transform_act_fn(hidden_states)
  hidden_states = self.LayerNorm(hidden_states)
  return hidden_states
end

local BertLMPredictionHead = nn.class()
function BertLMPredictionHead:init(config)
  self.transform = PredictionHeadTransform(config)
  self.decoder = nn.Linear(config.hidden, config.vocab)
  self.bias = nn.Parameter(torch.zeros({ config.vocab }))
end
function BertLMPredictionHead:forward(hidden_states)
  hidden_states = self.transform(hidden_states)
  hidden_states = self.decoder(hidden_states)
  return hidden_states
end

local BertOnlyMLMHead = nn.class()
function BertOnlyMLMHead:init(config)
  self.predictions = BertLMPredictionHead(config)
end
function BertOnlyMLMHead:forward(sequence_output)
  local prediction_scores = self.predictions(sequence_output)
  return prediction_scores
end

local RobertaLMHead = nn.class()
function RobertaLMHead:init(config)
  self.dense = nn.Linear(config.hidden, config.hidden)
  self.layer_norm = nn.LayerNorm(config.hidden)
  self.decoder = nn.Linear(config.hidden, config.vocab)
  self.bias = nn.Parameter(torch.zeros({ config.vocab }))
end
function RobertaLMHead:forward(features)
  local x = self.dense(features)
  x = torch.gelu(x)
  x = self.layer_norm(x)
  x = self.decoder(x)
  return x
end

-- config: hidden intermediate layers heads vocab positions token_types dropout attention_dropout act attention roberta
bert.ForMaskedLM = nn.class()
function bert.ForMaskedLM:init(config)
  self.config = config
  self.model = Model(config)
  local decoder, bias
  if config.roberta then
    self.lm_head = RobertaLMHead(config)
    decoder, bias = self.lm_head.decoder, self.lm_head.bias
  else
    self.cls = BertOnlyMLMHead(config)
    decoder, bias = self.cls.predictions.decoder, self.cls.predictions.bias
  end
  if config.tie_embeddings ~= false then
    hf.tie(decoder, "weight", self.model.embeddings.word_embeddings.weight)
    hf.tie(decoder, "bias", bias)
  end
end
function bert.ForMaskedLM:forward(input_ids, labels)
  local outputs = self.model(input_ids)
  local sequence_output = outputs.last_hidden_state
  local head = self.config.roberta and self.lm_head or self.cls
  local prediction_scores = head(sequence_output)
  local masked_lm_loss = nil
  if labels then
    masked_lm_loss = hf.cross_entropy_loss(prediction_scores, labels, self.config.vocab)
  end
  return { loss = masked_lm_loss, logits = prediction_scores }
end

return bert
