-- modeling_albert.lua: AlbertForMaskedLM and AlbertForSequenceClassification as Transformers 4.43 runs it (models/albert/modeling_albert.py, July 2024): one
-- layer's parameters, run again and again.
local nn = use "nn"
local hf = use "hf"
local albert = {}

local AlbertAttention = nn.class()
function AlbertAttention:init(config)
  self.config = config
  self.head_size = config.hidden // config.heads
  self.query = nn.Linear(config.hidden, config.hidden)
  self.key = nn.Linear(config.hidden, config.hidden)
  self.value = nn.Linear(config.hidden, config.hidden)
  self.attention_dropout = nn.Dropout(config.attention_dropout)
  self.output_dropout = nn.Dropout(config.dropout)
  self.dense = nn.Linear(config.hidden, config.hidden)
  self.LayerNorm = nn.LayerNorm(config.hidden)
end
function AlbertAttention:transpose_for_scores(x)
  return x:view(x:size(0), x:size(1), self.config.heads, self.head_size):permute(0, 2, 1, 3)
end
function AlbertAttention:eager(hidden_states, attention_mask)
  local mixed_query_layer = self.query(hidden_states)
  local mixed_key_layer = self.key(hidden_states)
  local mixed_value_layer = self.value(hidden_states)
  local query_layer = self:transpose_for_scores(mixed_query_layer)
  local key_layer = self:transpose_for_scores(mixed_key_layer)
  local value_layer = self:transpose_for_scores(mixed_value_layer)
  local attention_scores = torch.matmul(query_layer, key_layer:transpose(-1, -2))
  attention_scores = attention_scores / math.sqrt(self.head_size)
  if attention_mask then
    attention_scores = attention_scores + attention_mask
  end
  local attention_probs = torch.softmax(attention_scores, -1)
  attention_probs = self.attention_dropout(attention_probs)
  local context_layer = torch.matmul(attention_probs, value_layer)
  context_layer = context_layer:transpose(2, 1):flatten(2)
  local projected_context_layer = self.dense(context_layer)
  local projected_context_layer_dropout = self.output_dropout(projected_context_layer)
  local layernormed_context_layer = self.LayerNorm(hidden_states + projected_context_layer_dropout)
  return layernormed_context_layer
end
function AlbertAttention:sdpa(hidden_states, attention_mask)
  local batch, seq = hidden_states:size(0), hidden_states:size(1)
  local query_layer = self:transpose_for_scores(self.query(hidden_states))
  local key_layer = self:transpose_for_scores(self.key(hidden_states))
  local value_layer = self:transpose_for_scores(self.value(hidden_states))
  local attention_output = torch.scaled_dot_product_attention(query_layer, key_layer, value_layer, attention_mask, false, false,
    self.training ~= false and self.config.attention_dropout or 0.0)
  attention_output = attention_output:transpose(1, 2)
  attention_output = attention_output:reshape(batch, seq, self.config.hidden)
  local projected_context_layer = self.dense(attention_output)
  local projected_context_layer_dropout = self.output_dropout(projected_context_layer)
  local layernormed_context_layer = self.LayerNorm(hidden_states + projected_context_layer_dropout)
  return layernormed_context_layer
end
function AlbertAttention:forward(hidden_states, attention_mask)
  if self.config.attention == "eager" then
    return self:eager(hidden_states, attention_mask)
  end
  return self:sdpa(hidden_states, attention_mask)
end

local AlbertLayer = nn.class()
function AlbertLayer:init(config)
  self.full_layer_layer_norm = nn.LayerNorm(config.hidden)
  self.attention = AlbertAttention(config)
  self.ffn = nn.Linear(config.hidden, config.intermediate)
  self.ffn_output = nn.Linear(config.intermediate, config.hidden)
  self.activation = hf.activation(config.act)
end
function AlbertLayer:ff_chunk(attention_output)
  local ffn_output = self.ffn(attention_output)
  ffn_output = self.activation(ffn_output)
  ffn_output = self.ffn_output(ffn_output)
  return ffn_output
end
function AlbertLayer:forward(hidden_states, attention_mask)
  local attention_output = self.attention(hidden_states, attention_mask)
  local ffn_output = self:ff_chunk(attention_output)
  hidden_states = self.full_layer_layer_norm(ffn_output + attention_output)
  return hidden_states
end

local AlbertEmbeddings = nn.class()
function AlbertEmbeddings:init(config)
  self.word_embeddings = nn.Embedding(config.vocab, config.embedding)
  self.position_embeddings = nn.Embedding(config.positions, config.embedding)
  self.token_type_embeddings = nn.Embedding(config.token_types, config.embedding)
  self.LayerNorm = nn.LayerNorm(config.embedding)
  self.dropout = nn.Dropout(config.dropout)
  self.position_ids = nn.Buffer(torch.zeros({ 1, config.positions }, torch.int64))
  self.token_type_ids = nn.Buffer(torch.zeros({ 1, config.positions }, torch.int64))
end
function AlbertEmbeddings:forward(input_ids)
  local batch, seq = input_ids:size(0), input_ids:size(1)
  local position_ids = self.position_ids:slice(1, 0, seq)
  local token_type_ids = self.token_type_ids:slice(1, nil, seq):expand(batch, seq)
  local inputs_embeds = self.word_embeddings(input_ids)
  local token_type_embeddings = self.token_type_embeddings(token_type_ids)
  local embeddings = inputs_embeds + token_type_embeddings
  local position_embeddings = self.position_embeddings(position_ids)
  embeddings:add_(position_embeddings)
  embeddings = self.LayerNorm(embeddings)
  embeddings = self.dropout(embeddings)
  return embeddings
end

local AlbertMLMHead = nn.class()
function AlbertMLMHead:init(config)
  self.LayerNorm = nn.LayerNorm(config.embedding)
  self.dense = nn.Linear(config.hidden, config.embedding)
  self.decoder = nn.Linear(config.embedding, config.vocab)
  self.activation = hf.activation(config.act)
end
function AlbertMLMHead:forward(hidden_states)
  hidden_states = self.dense(hidden_states)
  hidden_states = self.activation(hidden_states)
  hidden_states = self.LayerNorm(hidden_states)
  hidden_states = self.decoder(hidden_states)
  local prediction_scores = hidden_states
  return prediction_scores
end

local AlbertModel = nn.class()
function AlbertModel:init(config)
  self.config = config
  self.embeddings = AlbertEmbeddings(config)
  self.embedding_hidden_mapping_in = nn.Linear(config.embedding, config.hidden)
  self.layer = AlbertLayer(config)
  if config.has_pooler then
    self.pooler = nn.Linear(config.hidden, config.hidden)
  end
end
-- A mask of ones hides nothing: eager attention adds zeros, SDPA gets none.
function AlbertModel:forward(input_ids)
  local batch, seq = input_ids:size(0), input_ids:size(1)
  local embedding_output = self.embeddings(input_ids)
  local attention_mask
  if self.config.attention == "eager" then
    attention_mask = torch.zeros({ batch, 1, 1, seq }, embedding_output.dtype)
  end
  local hidden_states = self.embedding_hidden_mapping_in(embedding_output)
  for _ = 1, self.config.layers do
    hidden_states = self.layer(hidden_states, attention_mask)
  end
  local pooled_output
  if self.pooler then
    pooled_output = torch.tanh(self.pooler(hidden_states:select(1, 0)))
  end
  return hidden_states, pooled_output
end

-- config: hidden embedding intermediate layers heads vocab positions token_types dropout attention_dropout act attention
albert.ForMaskedLM = nn.class()
function albert.ForMaskedLM:init(config)
  self.albert = AlbertModel(config)
  self.predictions = AlbertMLMHead(config)
  hf.tie(self.predictions.decoder, "weight", self.albert.embeddings.word_embeddings.weight)
end
function albert.ForMaskedLM:forward(input_ids)
  local outputs = self.albert(input_ids)
  local prediction_scores = self.predictions(outputs)
  return { logits = prediction_scores }
end

albert.ForSequenceClassification = nn.class()
function albert.ForSequenceClassification:init(config)
  config.has_pooler = true
  self.albert = AlbertModel(config)
  self.dropout = nn.Dropout(0.1)
  self.classifier = nn.Linear(config.hidden, 2)
end
function albert.ForSequenceClassification:forward(input_ids)
  local _, pooled_output = self.albert(input_ids)
  pooled_output = self.dropout(pooled_output)
  local logits = self.classifier(pooled_output)
  return { logits = logits }
end

return albert
