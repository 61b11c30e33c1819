-- bert_classification.lua: BERT and RoBERTa with a head that classifies, as Transformers 5.24 runs them: one class a
-- sequence (ForSequenceClassification) or a token (ForTokenClassification).
local nn = use "nn"
local F = use "functional"
local bert = use "modeling_bert"
local bert_classification = {}

local BertPooler = nn.class()
function BertPooler:init(config)
  self.dense = nn.Linear(config.hidden, config.hidden)
  self.activation = nn.Tanh()
end
function BertPooler:forward(hidden_states)
  local first_token_tensor = hidden_states:select(1, 0)
  local pooled_output = self.dense(first_token_tensor)
  pooled_output = self.activation(pooled_output)
  return pooled_output
end

local RobertaClassificationHead = nn.class()
function RobertaClassificationHead:init(config)
  self.dense = nn.Linear(config.hidden, config.hidden)
  self.dropout = nn.Dropout(config.classifier_dropout)
  self.out_proj = nn.Linear(config.hidden, config.labels)
end
function RobertaClassificationHead:forward(features)
  local x = features:select(1, 0)
  x = self.dropout(x)
  x = self.dense(x)
  x = torch.tanh(x)
  x = self.dropout(x)
  x = self.out_proj(x)
  return x
end

-- config: as modeling_bert.lua's, and labels, classifier_dropout
local SequenceClassification = nn.class()
bert_classification.ForSequenceClassification = SequenceClassification
function SequenceClassification:init(config)
  self.config = config
  self.model = bert.Model(config, not config.roberta and BertPooler or nil)
  if config.roberta then
    self.classifier = RobertaClassificationHead(config)
  else
    self.dropout = nn.Dropout(config.classifier_dropout)
    self.classifier = nn.Linear(config.hidden, config.labels)
  end
end
function SequenceClassification:forward(input_ids, labels)
  local outputs = self.model(input_ids)
  local logits
  if self.config.roberta then
    local sequence_output = outputs.last_hidden_state
    logits = self.classifier(sequence_output)
  else
    local pooled_output = outputs.pooler_output
    pooled_output = self.dropout(pooled_output)
    logits = self.classifier(pooled_output)
  end
  local loss = F.cross_entropy(logits:view(-1, self.config.labels), labels:view(-1))
  return { loss = loss, logits = logits }
end

local TokenClassification = nn.class()
bert_classification.ForTokenClassification = TokenClassification
function TokenClassification:init(config)
  self.config = config
  self.model = bert.Model(config)
  self.dropout = nn.Dropout(config.classifier_dropout)
  self.classifier = nn.Linear(config.hidden, config.labels)
end
function TokenClassification:forward(input_ids, labels)
  local outputs = self.model(input_ids)
  local sequence_output = outputs.last_hidden_state
  sequence_output = self.dropout(sequence_output)
  local logits = self.classifier(sequence_output)
  local loss = F.cross_entropy(logits:view(-1, self.config.labels), labels:view(-1))
  return { loss = loss, logits = logits }
end

return bert_classification
