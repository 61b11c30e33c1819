-- modeling_opt.lua: OPTForCausalLM as Transformers 5.24 runs it (models/opt/modeling_opt.py), name by name.
local nn = use "nn"
local masking = use "masking"
local hf = use "hf"
local opt = {}

local OPTLearnedPositionalEmbedding = nn.class()
function OPTLearnedPositionalEmbedding:init(num_embeddings, embedding_dim)
  self.offset = 2
  self.weight = nn.Parameter(torch.empty({ num_embeddings + self.offset, embedding_dim }))
end
function OPTLearnedPositionalEmbedding:forward(position_ids)
  return torch.embedding(self.weight, position_ids + self.offset)
end

local function layer_norm(config)
  return nn.LayerNorm(config.hidden, true, config.affine ~= false)
end

local OPTAttention = nn.class()
function OPTAttention:init(config)
  self.head_dim = config.hidden // config.heads
  self.dropout = config.attention_dropout
  self.attention_interface = hf.attention_interface(config)
  self.training = true
  self.k_proj = nn.Linear(config.hidden, config.hidden, config.bias ~= false)
  self.v_proj = nn.Linear(config.hidden, config.hidden, config.bias ~= false)
  self.q_proj = nn.Linear(config.hidden, config.hidden, config.bias ~= false)
  self.out_proj = nn.Linear(config.hidden, config.hidden, config.bias ~= false)
end
function OPTAttention:forward(hidden_states, attention_mask)
  local bsz, tgt_len = hidden_states:size(0), hidden_states:size(1)
  local query_states = self.q_proj(hidden_states) * self.head_dim ^ -0.5
  query_states = query_states:view(bsz, tgt_len, -1, self.head_dim):transpose(1, 2)
  local key_states = self.k_proj(hidden_states)
  local value_states = self.v_proj(hidden_states)
  key_states = key_states:view(bsz, tgt_len, -1, self.head_dim):transpose(1, 2)
  value_states = value_states:view(bsz, tgt_len, -1, self.head_dim):transpose(1, 2)
  local attn_output, attn_weights = self.attention_interface(self, query_states, key_states, value_states,
    attention_mask, self.training and self.dropout or 0.0)
  attn_output = attn_output:reshape(bsz, tgt_len, -1):contiguous()
  attn_output = self.out_proj(attn_output)
  return attn_output, attn_weights
end

local OPTDecoderLayer = nn.class()
function OPTDecoderLayer:init(config)
  self.self_attn = OPTAttention(config)
  self.dropout = config.dropout
  self.norm_before = config.norm_before ~= false
  self.training = true
  self.activation_fn = hf.activation(config.act)
  self.self_attn_layer_norm = layer_norm(config)
  self.fc1 = nn.Linear(config.hidden, config.intermediate, config.bias ~= false)
  self.fc2 = nn.Linear(config.intermediate, config.hidden, config.bias ~= false)
  self.final_layer_norm = layer_norm(config)
end
function OPTDecoderLayer:forward(hidden_states, attention_mask)
  local residual = hidden_states
  if self.norm_before then
    hidden_states = self.self_attn_layer_norm(hidden_states)
  end
  local _
  hidden_states, _ = self.self_attn(hidden_states, attention_mask)
  hidden_states = torch.dropout(hidden_states, self.dropout, self.training)
  hidden_states = residual + hidden_states
  if not self.norm_before then
    hidden_states = self.self_attn_layer_norm(hidden_states)
  end
  local shape = hidden_states.shape
  hidden_states = hidden_states:reshape(-1, hidden_states:size(-1))
  residual = hidden_states
  if self.norm_before then
    hidden_states = self.final_layer_norm(hidden_states)
  end
  hidden_states = self.fc1(hidden_states)
  hidden_states = self.activation_fn(hidden_states)
  hidden_states = self.fc2(hidden_states)
  hidden_states = torch.dropout(hidden_states, self.dropout, self.training)
  hidden_states = (residual + hidden_states):view(shape)
  if not self.norm_before then
    hidden_states = self.final_layer_norm(hidden_states)
  end
  return hidden_states
end

local OPTDecoder = nn.class()
function OPTDecoder:init(config)
  self.config = config
  self.embed_tokens = nn.Embedding(config.vocab, config.embedding)
  self.embed_positions = OPTLearnedPositionalEmbedding(config.positions, config.hidden)
  if config.embedding ~= config.hidden then
    self.project_out = nn.Linear(config.hidden, config.embedding, false)
    self.project_in = nn.Linear(config.embedding, config.hidden, false)
  end
  if config.norm_before ~= false and config.final_norm ~= false then
    self.final_layer_norm = layer_norm(config)
  end
  local layers = {}
  for i = 1, config.layers do
    layers[i] = OPTDecoderLayer(config)
  end
  self.layers = nn.ModuleList(layers)
end
function OPTDecoder:forward(input_ids)
  local inputs_embeds = self.embed_tokens(input_ids)
  local position_attention_mask = torch.ones({ inputs_embeds:size(0), inputs_embeds:size(1) }, torch.float32)
  local position_ids = torch.cumsum(position_attention_mask, 1)
  position_ids = (position_ids * position_attention_mask - 1):to(torch.int64)
  position_ids = position_ids:slice(1, 0)
  local causal_mask = masking.create_causal_mask(self.config, inputs_embeds)
  local pos_embeds = self.embed_positions(position_ids)
  if self.project_in then
    inputs_embeds = self.project_in(inputs_embeds)
  end
  local hidden_states = inputs_embeds + pos_embeds
  for i = 0, self.layers.length - 1 do
    hidden_states = self.layers[i](hidden_states, causal_mask, position_ids)
  end
  if self.final_layer_norm then
    hidden_states = self.final_layer_norm(hidden_states)
  end
  if self.project_out then
    hidden_states = self.project_out(hidden_states)
  end
  return { last_hidden_state = hidden_states }
end

-- config: hidden intermediate layers heads vocab positions embedding dropout attention_dropout act attention
-- tie_embeddings; and, all on when nil: bias, affine (weights of the norms), norm_before (of attention and MLP), final_norm
opt.ForCausalLM = nn.class()
function opt.ForCausalLM:init(config)
  self.config = config
  self.decoder = OPTDecoder(config)
  self.lm_head = nn.Linear(config.embedding, config.vocab, false)
  if config.tie_embeddings then
    hf.tie(self.lm_head, "weight", self.decoder.embed_tokens.weight)
  end
end
function opt.ForCausalLM:forward(input_ids, labels)
  local outputs = self.decoder(input_ids)
  local hidden_states = outputs.last_hidden_state
  local logits = self.lm_head(hidden_states):contiguous()
  local loss = nil
  if labels then
    loss = hf.for_causal_lm_loss(logits, labels, self.config.vocab)
  end
  return { loss = loss, logits = logits }
end

return opt
