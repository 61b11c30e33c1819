-- bert_classification.lua: BERT and RoBERTa with a head that classifies, as Transformers 5.24 runs them: one class a
-- sequence (ForSequenceClassification) or a token (ForTokenClassification), or where an answer begins and ends
-- (ForQuestionAnswering).
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

local QuestionAnswering = nn.class()
bert_classification.ForQuestionAnswering = QuestionAnswering
function QuestionAnswering:init(config)
  self.model = bert.Model(config)
  self.qa_outputs = nn.Linear(config.hidden, config.labels)
end
-- positions: those of the start and of the end, one a sequence
function QuestionAnswering:forward(input_ids, positions)
  local outputs = self.model(input_ids)
  local sequence_output = outputs.last_hidden_state
  local logits = self.qa_outputs(sequence_output)
  local start_logits, end_logits = logits:split(1, -1)
  start_logits = start_logits:squeeze(-1):contiguous()
  end_logits = end_logits:squeeze(-1):contiguous()
  local ignored_index = start_logits:size(1)
  local start_positions = positions[1]:clamp(0, ignored_index)
  local end_positions = positions[2]:clamp(0, ignored_index)
  local start_loss = F.cross_entropy(start_logits, start_positions)
  local end_loss = F.cross_entropy(end_logits, end_positions)
  local total_loss = (start_loss + end_loss) / 2
  return { loss = total_loss, start_logits = start_logits, end_logits = end_logits }
end

return bert_classification
