-- modeling_gpt2.lua: GPT2LMHeadModel as Transformers 5.24 runs it (models/gpt2/modeling_gpt2.py), name by name.
local nn = use "nn"
local masking = use "masking"
local hf = use "hf"
local gpt2 = {}

-- pytorch_utils.py: a linear layer whose weight lies transposed
local Conv1D = nn.class()
Conv1D.is_transposed = true
function Conv1D:init(nf, nx)
  self.nf = nf
  self.weight = nn.Parameter(torch.empty({ nx, nf }))
  self.bias = nn.Parameter(torch.zeros({ nf }))
end
function Conv1D:forward(x)
  local batch, seq = x:size(0), x:size(1)
  x = torch.addmm(self.bias, x:view(-1, x:size(-1)), self.weight)
  x = x:view(batch, seq, self.nf)
  return x
end

local function eager_attention_forward(module, query, key, value, attention_mask, dropout)
  local attn_weights = torch.matmul(query, key:transpose(-1, -2)) * module.scaling
  if attention_mask then
    attn_weights = attn_weights + attention_mask
  end
  attn_weights = torch.softmax(attn_weights, -1)
  attn_weights = attn_weights:to(value.dtype)
  attn_weights = torch.dropout(attn_weights, dropout, module.training)
  local attn_output = torch.matmul(attn_weights, value)
  attn_output = attn_output:transpose(1, 2)
  return attn_output, attn_weights
end

local GPT2Attention = nn.class()
function GPT2Attention:init(config)
  self.split_size = config.hidden
  self.head_dim = config.hidden // config.heads
  self.scaling = self.head_dim ^ -0.5
  self.attention = config.attention
  self.c_attn = Conv1D(3 * config.hidden, config.hidden)
  self.c_proj = Conv1D(config.hidden, config.hidden)
  self.attn_dropout = nn.Dropout(config.attention_dropout or config.dropout)
  self.resid_dropout = nn.Dropout(config.dropout)
  self.upcasts = config.attention == "eager" and config.upcast_attention == true
  self.training = true
end
-- reorder_and_upcast_attn: scores in fp32, outside of autocast
local function upcast_and_reordered_attn(self, query, key, value, attention_mask)
  local bsz, num_heads, q_seq_len, dk = table.unpack(query.shape)
  local k_seq_len = key:size(-2)
  local attn_weights = torch.empty({ bsz * num_heads, q_seq_len, k_seq_len }, torch.float32)
  local region = torch.autocast_enter("none") -- with maybe_autocast(enabled=False):
  local q, k = query:reshape(-1, q_seq_len, dk), key:transpose(-1, -2):reshape(-1, dk, k_seq_len)
  attn_weights = torch.baddbmm(attn_weights, q:float(), k:float(), 0.0, self.scaling)
  attn_weights = attn_weights:reshape(bsz, num_heads, q_seq_len, k_seq_len)
  torch.autocast_leave(region)
  if attention_mask then
    attn_weights = attn_weights + attention_mask
  end
  attn_weights = torch.softmax(attn_weights, -1)
  attn_weights = attn_weights:to(value.dtype)
  attn_weights = self.attn_dropout(attn_weights)
  local attn_output = torch.matmul(attn_weights, value)
  attn_output = attn_output:transpose(1, 2)
  return attn_output, attn_weights
end
function GPT2Attention:forward(hidden_states, attention_mask)
  local query_states, key_states, value_states = self.c_attn(hidden_states):split(self.split_size, 2)
  local batch, seq = hidden_states:size(0), hidden_states:size(1)
  key_states = key_states:view(batch, seq, -1, self.head_dim):transpose(1, 2)
  value_states = value_states:view(batch, seq, -1, self.head_dim):transpose(1, 2)
  query_states = query_states:view(batch, seq, -1, self.head_dim):transpose(1, 2)
  local attention_interface = self.attention == "eager" and eager_attention_forward or hf.sdpa_attention_forward
  local attn_output, attn_weights
  if self.upcasts then
    attn_output, attn_weights = upcast_and_reordered_attn(self, query_states, key_states, value_states, attention_mask)
  else
    attn_output, attn_weights = attention_interface(self, query_states, key_states, value_states, attention_mask,
      self.training and self.attn_dropout.p or 0.0)
  end
  attn_output = attn_output:reshape(batch, seq, -1):contiguous()
  attn_output = self.c_proj(attn_output)
  attn_output = self.resid_dropout(attn_output)
  return attn_output, attn_weights
end

local GPT2MLP = nn.class()
function GPT2MLP:init(config)
  self.c_fc = Conv1D(config.intermediate, config.hidden)
  self.c_proj = Conv1D(config.hidden, config.intermediate)
  self.act = hf.activation(config.act)
  self.dropout = nn.Dropout(config.dropout)
end
function GPT2MLP:forward(hidden_states)
  hidden_states = self.c_fc(hidden_states)
  hidden_states = self.act(hidden_states)
  hidden_states = self.c_proj(hidden_states)
  hidden_states = self.dropout(hidden_states)
  return hidden_states
end

local GPT2Block = nn.class()
function GPT2Block:init(config)
  self.ln_1 = nn.LayerNorm(config.hidden)
  self.attn = GPT2Attention(config)
  self.ln_2 = nn.LayerNorm(config.hidden)
  self.mlp = GPT2MLP(config)
end
function GPT2Block:forward(hidden_states, attention_mask)
  local residual = hidden_states
  hidden_states = self.ln_1(hidden_states)
  local attn_output, _ = self.attn(hidden_states, attention_mask)
  hidden_states = attn_output + residual
  residual = hidden_states
  hidden_states = self.ln_2(hidden_states)
  local feed_forward_hidden_states = self.mlp(hidden_states)
  hidden_states = residual + feed_forward_hidden_states
  return hidden_states
end

local GPT2Model = nn.class()
function GPT2Model:init(config)
  self.config = config
  self.wte = nn.Embedding(config.vocab, config.hidden)
  self.wpe = nn.Embedding(config.positions, config.hidden)
  self.drop = nn.Dropout(config.embedding_dropout or config.dropout)
  local blocks = {}
  for i = 1, config.layers do
    blocks[i] = GPT2Block(config)
  end
  self.h = nn.ModuleList(blocks)
  self.ln_f = nn.LayerNorm(config.hidden)
end
-- PreTrainedModel.warn_if_padding_and_no_attention_mask: looks for the padding token at both ends, when there is one
local function warn_if_padding(config, input_ids)
  local function contains(self)
    self:eq(0):all():item()
  end
  if config.has_pad_token then
    contains(input_ids:index(torch.zeros({ 2 }, torch.int64), 1))
  end
end
function GPT2Model:forward(input_ids)
  warn_if_padding(self.config, input_ids)
  local inputs_embeds = self.wte(input_ids)
  local position_ids = torch.arange(inputs_embeds:size(1)) + 0
  position_ids = position_ids:unsqueeze(0)
  local position_embeds = self.wpe(position_ids)
  local hidden_states = inputs_embeds + position_embeds
  local causal_mask = masking.create_causal_mask(self.config, inputs_embeds, nil, position_ids)
  hidden_states = self.drop(hidden_states)
  for i = 0, self.h.length - 1 do
    hidden_states = self.h[i](hidden_states, causal_mask, position_ids)
  end
  hidden_states = self.ln_f(hidden_states)
  return { last_hidden_state = hidden_states }
end

gpt2.GPT2LMHeadModel = nn.class()
-- config: hidden intermediate layers heads vocab positions dropout act attention tie_embeddings; and, where they differ,
-- attention_dropout embedding_dropout upcast_attention has_pad_token
function gpt2.GPT2LMHeadModel:init(config)
  self.config = config
  self.transformer = GPT2Model(config)
  self.lm_head = nn.Linear(config.hidden, config.vocab, false)
  if config.tie_embeddings then
    nn.replace(self.lm_head, "weight", self.transformer.wte.weight)
  end
end
function gpt2.GPT2LMHeadModel:forward(input_ids, labels)
  local transformer_outputs = self.transformer(input_ids)
  local hidden_states = transformer_outputs.last_hidden_state
  local logits = self.lm_head(hidden_states)
  local loss = nil
  if labels then
    loss = hf.for_causal_lm_loss(logits, labels, self.config.vocab)
  end
  return { loss = loss, logits = logits }
end

return gpt2
