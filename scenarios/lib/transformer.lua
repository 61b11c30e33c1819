-- transformer.lua: torch.nn.MultiheadAttention and TransformerEncoder.
local nn = use "nn"
local transformer = {}

-- Self-attention of batched inputs (activation.py, functional.py multi_head_attention_forward).
transformer.MultiheadAttention = nn.class()
function transformer.MultiheadAttention:init(embed_dim, num_heads, dropout, batch_first)
  self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
  self.dropout, self.batch_first, self.training = dropout or 0.0, batch_first, true
  self.in_proj_weight = nn.Parameter(torch.empty({ 3 * embed_dim, embed_dim }))
  self.in_proj_bias = nn.Parameter(torch.empty({ 3 * embed_dim }))
  self.out_proj = nn.Linear(embed_dim, embed_dim)
end

local function in_projection_packed(q, w, b)
  local E = q:size(-1)
  local proj = torch.linear(q, w, b)
  proj = proj:unflatten(-1, { 3, E }):unsqueeze(0):transpose(0, -2):squeeze(-2):contiguous()
  return proj:select(0, 0), proj:select(0, 1), proj:select(0, 2)
end

local function multi_head_attention_forward(self, query, need_weights)
  local tgt_len, bsz, embed_dim = table.unpack(query.shape)
  local num_heads, head_dim = self.num_heads, self.head_dim
  local q, k, v = in_projection_packed(query, self.in_proj_weight, self.in_proj_bias)
  q = q:view(tgt_len, bsz * num_heads, head_dim):transpose(0, 1)
  k = k:view(tgt_len, bsz * num_heads, head_dim):transpose(0, 1)
  v = v:view(tgt_len, bsz * num_heads, head_dim):transpose(0, 1)
  local dropout_p = self.training and self.dropout or 0.0
  if need_weights then
    local q_scaled = q * math.sqrt(1.0 / head_dim)
    local attn_output_weights = torch.bmm(q_scaled, k:transpose(-2, -1))
    q_scaled, k = nil, nil
    attn_output_weights = torch.softmax(attn_output_weights, -1)
    if dropout_p > 0.0 then
      attn_output_weights = torch.dropout(attn_output_weights, dropout_p)
    end
    local attn_output = torch.bmm(attn_output_weights, v)
    v = nil
    attn_output = attn_output:transpose(0, 1):reshape(tgt_len * bsz, embed_dim)
    attn_output = torch.linear(attn_output, self.out_proj.weight, self.out_proj.bias)
    attn_output = attn_output:view(tgt_len, bsz, attn_output:size(1))
    attn_output_weights = attn_output_weights:view(bsz, num_heads, tgt_len, tgt_len)
    attn_output_weights = attn_output_weights:mean(1)
    return attn_output, attn_output_weights
  end
  q = q:view(bsz, num_heads, tgt_len, head_dim)
  k = k:view(bsz, num_heads, tgt_len, head_dim)
  v = v:view(bsz, num_heads, tgt_len, head_dim)
  local attn_output = torch.scaled_dot_product_attention(q, k, v, { dropout_p = dropout_p })
  q, k, v = nil, nil, nil
  attn_output = attn_output:permute(2, 0, 1, 3):reshape(bsz * tgt_len, embed_dim)
  attn_output = torch.linear(attn_output, self.out_proj.weight, self.out_proj.bias)
  attn_output = attn_output:view(tgt_len, bsz, attn_output:size(1))
  return attn_output, nil
end

function transformer.MultiheadAttention:forward(query, need_weights)
  if self.batch_first then
    query = query:transpose(1, 0)
  end
  local attn_output, attn_output_weights = multi_head_attention_forward(self, query, need_weights)
  if self.batch_first then
    attn_output = attn_output:transpose(1, 0)
  end
  return attn_output, attn_output_weights
end

-- transformer.py
transformer.TransformerEncoderLayer = nn.class()
function transformer.TransformerEncoderLayer:init(d_model, nhead, dim_feedforward, dropout, activation, batch_first, norm_first)
  self.self_attn = transformer.MultiheadAttention(d_model, nhead, dropout, batch_first)
  self.linear1 = nn.Linear(d_model, dim_feedforward)
  self.drop = nn.Dropout(dropout)
  self.linear2 = nn.Linear(dim_feedforward, d_model)
  self.norm_first = norm_first
  self.norm1 = nn.LayerNorm(d_model)
  self.norm2 = nn.LayerNorm(d_model)
  self.dropout1 = nn.Dropout(dropout)
  self.dropout2 = nn.Dropout(dropout)
  self.activation = activation
end
local function sa_block(self, x)
  x = self.self_attn(x)
  return self.dropout1(x)
end
local function ff_block(self, x)
  x = self.linear2(self.drop(torch[self.activation](self.linear1(x))))
  return self.dropout2(x)
end
function transformer.TransformerEncoderLayer:forward(src)
  local x = src
  if self.norm_first then
    x = x + sa_block(self, self.norm1(x))
    x = x + ff_block(self, self.norm2(x))
  else
    x = self.norm1(x + sa_block(self, x))
    x = self.norm2(x + ff_block(self, x))
  end
  return x
end

transformer.TransformerEncoder = nn.class()
function transformer.TransformerEncoder:init(make_layer, num_layers)
  local layers = {}
  for i = 1, num_layers do
    layers[i] = make_layer()
  end
  self.layers = nn.ModuleList(layers)
end
function transformer.TransformerEncoder:forward(src)
  local output = src
  for i = 0, self.layers.length - 1 do
    output = self.layers[i](output)
  end
  return output
end

return transformer
