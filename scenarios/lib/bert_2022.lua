-- bert_2022.lua: BertForSequenceClassification as Transformers 4.18 ran it (models/bert/modeling_bert.py, spring 2022): eager
-- attention with a mask made of the tokens' mask, and its optimizers of that time (optimization.py).
local nn = use "nn"
local F = use "functional"
local base = use "optim_base"
local bert = {}

local BertEmbeddings = nn.class()
function BertEmbeddings:init(config)
  self.word_embeddings = nn.Embedding(config.vocab, config.hidden)
  self.position_embeddings = nn.Embedding(config.positions, config.hidden)
  self.token_type_embeddings = nn.Embedding(2, config.hidden)
  self.LayerNorm = nn.LayerNorm(config.hidden)
  self.dropout = nn.Dropout(config.dropout)
  self.position_ids = nn.Buffer(torch.zeros({ 1, config.positions }, torch.int64))
  self.token_type_ids = nn.Buffer(torch.zeros({ 1, config.positions }, torch.int64))
end
function BertEmbeddings:forward(input_ids)
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

-- softmax before PyTorch 1.11: the backward takes the input too, which is saved beside the result (derivatives.yaml of
-- 1.10: _softmax_backward_data(grad, result, dim, self)). Under autocast that is its float32 copy.
local saving_softmax = torch.autograd_function {
  name = "Softmax",
  forward = function(ctx, input)
    local result = torch.softmax(input, -1)
    ctx.save_for_backward(input, result)
    return result
  end,
  backward = function(_, saved)
    local grad_input = torch.empty(saved[1].shape, saved[1].dtype)
    return grad_input
  end,
}
local function softmax(input)
  local result = saving_softmax(input:float())
  return result
end

local BertSelfAttention = nn.class()
function BertSelfAttention:init(config)
  self.heads, self.head_size = config.heads, config.hidden // config.heads
  self.query = nn.Linear(config.hidden, config.hidden)
  self.key = nn.Linear(config.hidden, config.hidden)
  self.value = nn.Linear(config.hidden, config.hidden)
  self.dropout = nn.Dropout(config.dropout)
end
function BertSelfAttention:transpose_for_scores(x)
  return x:view(x:size(0), x:size(1), self.heads, self.head_size):permute(0, 2, 1, 3)
end
function BertSelfAttention:forward(hidden_states, attention_mask)
  local batch, seq = hidden_states:size(0), hidden_states:size(1)
  local mixed_query_layer = self.query(hidden_states)
  local key_layer = self:transpose_for_scores(self.key(hidden_states))
  local value_layer = self:transpose_for_scores(self.value(hidden_states))
  local query_layer = self:transpose_for_scores(mixed_query_layer)
  local attention_scores = torch.matmul(query_layer, key_layer:transpose(-1, -2))
  attention_scores = attention_scores / math.sqrt(self.head_size)
  attention_scores = attention_scores + attention_mask
  local attention_probs = softmax(attention_scores)
  attention_probs = self.dropout(attention_probs)
  local context_layer = torch.matmul(attention_probs, value_layer)
  context_layer = context_layer:permute(0, 2, 1, 3):contiguous()
  context_layer = context_layer:view(batch, seq, self.heads * self.head_size)
  return context_layer
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

local BertLayer = nn.class()
function BertLayer:init(config)
  self.attention_self = BertSelfAttention(config)
  self.attention_output = Output(config, config.hidden)
  self.intermediate = nn.Linear(config.hidden, config.intermediate)
  self.output = Output(config, config.intermediate)
end
function BertLayer:forward(hidden_states, attention_mask)
  local self_outputs = self.attention_self(hidden_states, attention_mask)
  local attention_output = self.attention_output(self_outputs, hidden_states)
  local intermediate_output = self.intermediate(attention_output)
  intermediate_output = torch.gelu(intermediate_output)
  local layer_output = self.output(intermediate_output, attention_output)
  return layer_output
end

-- config: hidden intermediate layers heads vocab positions dropout
bert.ForSequenceClassification = nn.class()
function bert.ForSequenceClassification:init(config)
  self.embeddings = BertEmbeddings(config)
  local layers = {}
  for i = 1, config.layers do
    layers[i] = BertLayer(config)
  end
  self.layer = nn.ModuleList(layers)
  self.pooler = nn.Linear(config.hidden, config.hidden)
  self.dropout = nn.Dropout(config.dropout)
  self.classifier = nn.Linear(config.hidden, 2)
end
function bert.ForSequenceClassification:forward(input_ids, labels)
  local batch, seq = input_ids:size(0), input_ids:size(1)
  local attention_mask = torch.ones({ batch, seq })
  local extended_attention_mask = (1.0 - attention_mask:view(batch, 1, 1, seq)) * -10000.0
  local hidden_states = self.embeddings(input_ids)
  for i = 0, self.layer.length - 1 do
    hidden_states = self.layer[i](hidden_states, extended_attention_mask)
  end
  local pooled_output = torch.tanh(self.pooler(hidden_states:select(1, 0)))
  pooled_output = self.dropout(pooled_output)
  local logits = self.classifier(pooled_output)
  local loss = F.cross_entropy(logits:view(-1, 2), labels:view(-1))
  return { loss = loss, logits = logits }
end

-- ---- optimization.py ----

local function adamw_step(self)
  local denom
  for i = 1, #self.params do
    local p = self.params[i]
    local grad = p.grad
    local state = self.state[i]
    if not state.exp_avg then
      base.set_state(self, i, "exp_avg", torch.zeros_like(p))
      base.set_state(self, i, "exp_avg_sq", torch.zeros_like(p))
    end
    state.exp_avg:mul_(0.9):add_(grad)
    state.exp_avg_sq:mul_(0.999):addcmul_(grad, grad)
    denom = state.exp_avg_sq:sqrt():add_(1e-6)
    p:addcdiv_(state.exp_avg, denom)
  end
end
function bert.AdamW(params)
  return base.new(params, { impl = "forloop" }, adamw_step)
end

local function rms(tensor)
  return torch.vector_norm(tensor) / tensor:numel() ^ 0.5
end
local function adafactor_step(self)
  local p_data_rms, update
  for i = 1, #self.params do
    local p = self.params[i]
    local grad = p.grad
    local state, is_factored = self.state[i], #p.shape >= 2
    if not self.has_state[i] then
      self.has_state[i] = true
      if is_factored then
        base.set_state(self, i, "exp_avg_sq_row", torch.zeros({ p:size(0) }))
        base.set_state(self, i, "exp_avg_sq_col", torch.zeros({ p:size(1) }))
      else
        base.set_state(self, i, "exp_avg_sq", torch.zeros_like(p))
      end
    end
    p_data_rms = rms(p)
    update = torch.pow(grad, 2) + 1e-30
    if is_factored then
      state.exp_avg_sq_row:mul_(0.9):add_(update:mean(-1))
      state.exp_avg_sq_col:mul_(0.9):add_(update:mean(-2))
      local r_factor = (state.exp_avg_sq_row / state.exp_avg_sq_row:mean(-1, true)):rsqrt_():unsqueeze(-1)
      local c_factor = state.exp_avg_sq_col:unsqueeze(-2):rsqrt()
      update = torch.mul(r_factor, c_factor)
      update:mul_(grad)
    else
      state.exp_avg_sq:mul_(0.9):add_(update)
      update = state.exp_avg_sq:rsqrt():mul_(grad)
    end
    update:div_((rms(update) / 1.0):clamp_(1.0))
    update:mul_(1e-3)
    p:add_(-update)
  end
end
function bert.Adafactor(params)
  local optimizer = base.new(params, { impl = "forloop" }, adafactor_step)
  optimizer.has_state = setmetatable({}, {})
  return optimizer
end

return bert
