-- transformer.lua: torch.nn.MultiheadAttention, TransformerEncoder, TransformerDecoder, Transformer.
local nn = use "nn"
local transformer = {}

-- A mask of bool becomes one of numbers, added to the scores (functional.py _canonical_mask).
local function canonical_mask(mask, dtype)
  if mask and mask.dtype == "bool" then
    return torch.zeros(mask.shape, dtype):masked_fill_(mask, -1.0)
  end
  return mask
end

-- Batched inputs (activation.py, functional.py multi_head_attention_forward).
-- options: kdim, vdim, bias
transformer.MultiheadAttention = nn.class()
function transformer.MultiheadAttention:init(embed_dim, num_heads, dropout, batch_first, options)
  local o = options or {}
  self.embed_dim = embed_dim
  self.num_heads = num_heads
  self.head_dim = embed_dim // num_heads
  self.dropout = dropout or 0.0
  self.batch_first = batch_first
  self.training = true
  if (o.kdim or embed_dim) ~= embed_dim or (o.vdim or embed_dim) ~= embed_dim then
    self.q_proj_weight = nn.Parameter(torch.empty({ embed_dim, embed_dim }))
    self.k_proj_weight = nn.Parameter(torch.empty({ embed_dim, o.kdim or embed_dim }))
    self.v_proj_weight = nn.Parameter(torch.empty({ embed_dim, o.vdim or embed_dim }))
  else
    self.in_proj_weight = nn.Parameter(torch.empty({ 3 * embed_dim, embed_dim }))
  end
  if o.bias ~= false then
    self.in_proj_bias = nn.Parameter(torch.empty({ 3 * embed_dim }))
  end
  self.out_proj = nn.Linear(embed_dim, embed_dim, o.bias ~= false)
end

-- Several projections side by side, parted: `count` of the width E
local function parted(proj, count, E)
  return proj:unflatten(-1, { count, E }):unsqueeze(0):transpose(0, -2):squeeze(-2):contiguous()
end

-- The three of one input, of two (key and value are one), of three.
local function in_projection_packed(q, k, v, w, b)
  local E = q:size(-1)
  if not k then
    local proj = torch.linear(q, w, b)
    proj = parted(proj, 3, E)
    return proj:select(0, 0), proj:select(0, 1), proj:select(0, 2)
  elseif not v then
    local w_q, w_kv = torch.split_with_sizes(w, { E, E * 2 })
    local b_q, b_kv
    if b then
      b_q, b_kv = torch.split_with_sizes(b, { E, E * 2 })
    end
    local q_proj = torch.linear(q, w_q, b_q)
    local kv_proj = torch.linear(k, w_kv, b_kv)
    kv_proj = parted(kv_proj, 2, E)
    return q_proj, kv_proj:select(0, 0), kv_proj:select(0, 1)
  end
  local w_q, w_k, w_v = torch.chunk(w, 3)
  local b_q, b_k, b_v
  if b then
    b_q, b_k, b_v = torch.chunk(b, 3)
  end
  local first, second = torch.linear(q, w_q, b_q), torch.linear(k, w_k, b_k)
  return first, second, torch.linear(v, w_v, b_v)
end

local function in_projection(self, q, k, v)
  local b_q, b_k, b_v
  if self.in_proj_bias then
    b_q, b_k, b_v = torch.chunk(self.in_proj_bias, 3)
  end
  local first = torch.linear(q, self.q_proj_weight, b_q)
  local second = torch.linear(k, self.k_proj_weight, b_k)
  return first, second, torch.linear(v or k, self.v_proj_weight, b_v)
end

-- key, value: nil where they are what stands before
local function multi_head_attention_forward(self, query, key, value, o)
  local tgt_len, bsz, embed_dim = table.unpack(query.shape)
  local src_len = (key or query):size(0)
  local num_heads, head_dim = self.num_heads, self.head_dim
  local key_padding_mask = canonical_mask(o.key_padding_mask, query.dtype)
  local is_causal, attn_mask = o.is_causal, nil
  if is_causal and not key_padding_mask and not o.need_weights then
    attn_mask = nil
  else
    attn_mask = canonical_mask(o.attn_mask, query.dtype)
    is_causal = is_causal and not key_padding_mask
  end
  local q, k, v
  if self.in_proj_weight then
    q, k, v = in_projection_packed(query, key, value, self.in_proj_weight, self.in_proj_bias)
  else
    q, k, v = in_projection(self, query, key or query, value)
  end
  if attn_mask and #attn_mask.shape == 2 then
    attn_mask = attn_mask:unsqueeze(0)
  end
  q = q:view(tgt_len, bsz * num_heads, head_dim):transpose(0, 1)
  k = k:view(src_len, bsz * num_heads, head_dim):transpose(0, 1)
  v = v:view(src_len, bsz * num_heads, head_dim):transpose(0, 1)
  if key_padding_mask then
    key_padding_mask = key_padding_mask:view(bsz, 1, 1, src_len):expand(-1, num_heads, -1, -1)
      :reshape(bsz * num_heads, 1, src_len)
    if attn_mask then
      attn_mask = attn_mask + key_padding_mask
    else
      attn_mask = key_padding_mask
    end
  end
  local dropout_p = self.training and self.dropout or 0.0
  if o.need_weights then
    local q_scaled = q * math.sqrt(1.0 / head_dim)
    local attn_output_weights
    if attn_mask then
      attn_output_weights = torch.baddbmm(attn_mask, q_scaled, k:transpose(-2, -1))
    else
      attn_output_weights = torch.bmm(q_scaled, k:transpose(-2, -1))
    end
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
    attn_output_weights = attn_output_weights:view(bsz, num_heads, tgt_len, src_len)
    attn_output_weights = attn_output_weights:mean(1)
    return attn_output, attn_output_weights
  end
  if attn_mask and attn_mask:size(0) == 1 then
    attn_mask = attn_mask:unsqueeze(0)
  elseif attn_mask then
    attn_mask = attn_mask:view(bsz, num_heads, -1, src_len)
  end
  q = q:view(bsz, num_heads, tgt_len, head_dim)
  k = k:view(bsz, num_heads, src_len, head_dim)
  v = v:view(bsz, num_heads, src_len, head_dim)
  local attn_output = torch.scaled_dot_product_attention(q, k, v, attn_mask, is_causal, { dropout_p = dropout_p })
  q, k, v = nil, nil, nil
  attn_output = attn_output:permute(2, 0, 1, 3):reshape(bsz * tgt_len, embed_dim)
  attn_output = torch.linear(attn_output, self.out_proj.weight, self.out_proj.bias)
  attn_output = attn_output:view(tgt_len, bsz, attn_output:size(1))
  return attn_output, nil
end

-- options: key, value (nil: the query; the key), attn_mask, key_padding_mask, is_causal
function transformer.MultiheadAttention:forward(query, need_weights, options)
  local o = options or {}
  local key, value = o.key, o.value
  local masks = {
    need_weights = need_weights,
    is_causal = o.is_causal,
    key_padding_mask = canonical_mask(o.key_padding_mask, query.dtype),
    attn_mask = canonical_mask(o.attn_mask, query.dtype),
  }
  if self.batch_first then
    query = query:transpose(1, 0)
    key = key and key:transpose(1, 0)
    value = value and value:transpose(1, 0)
  end
  local attn_output, attn_output_weights = multi_head_attention_forward(self, query, key, value, masks)
  if self.batch_first then
    attn_output = attn_output:transpose(1, 0)
  end
  return attn_output, attn_output_weights
end

-- transformer.py
-- generate_square_subsequent_mask
function transformer.causal_mask(size, dtype)
  return torch.triu(torch.full({ size, size }, -1.0, dtype), 1)
end

-- Whether a mask is the causal one is read off the device; here what the scenario says of it (hint, else so it is).
local function detect_is_causal_mask(mask, is_causal, size)
  if not mask or is_causal ~= nil then
    return is_causal == true
  end
  local causal_comparison = transformer.causal_mask(size, mask.dtype)
  if #mask.shape ~= 2 then
    return false
  end
  mask:eq(causal_comparison):all():item()
  return true
end

local function add_feed_forward(self, d_model, dim_feedforward, dropout)
  self.linear1 = nn.Linear(d_model, dim_feedforward)
  self.drop = nn.Dropout(dropout)
  self.linear2 = nn.Linear(dim_feedforward, d_model)
end

local function self_attention(self, x, masks)
  x = self.self_attn(x, false, masks)
  return self.dropout1(x)
end

local function feed_forward(self, x, last)
  x = self.linear2(self.drop(torch[self.activation](self.linear1(x))))
  return last(x)
end

transformer.TransformerEncoderLayer = nn.class()
function transformer.TransformerEncoderLayer:init(d_model, nhead, dim_feedforward, dropout, activation, batch_first, norm_first)
  self.self_attn = transformer.MultiheadAttention(d_model, nhead, dropout, batch_first)
  add_feed_forward(self, d_model, dim_feedforward, dropout)
  self.norm_first = norm_first
  self.norm1 = nn.LayerNorm(d_model)
  self.norm2 = nn.LayerNorm(d_model)
  self.dropout1 = nn.Dropout(dropout)
  self.dropout2 = nn.Dropout(dropout)
  self.activation = activation
end
-- masks: attn_mask, key_padding_mask, is_causal
function transformer.TransformerEncoderLayer:forward(src, masks)
  local x = src
  if self.norm_first then
    x = x + self_attention(self, self.norm1(x), masks)
    x = x + feed_forward(self, self.norm2(x), self.dropout2)
  else
    x = self.norm1(x + self_attention(self, x, masks))
    x = self.norm2(x + feed_forward(self, x, self.dropout2))
  end
  return x
end

local function clones(make_layer, num_layers)
  local layers = {}
  for i = 1, num_layers do
    layers[i] = make_layer()
  end
  return nn.ModuleList(layers)
end

-- norm: a module after the last layer, or nil
transformer.TransformerEncoder = nn.class()
function transformer.TransformerEncoder:init(make_layer, num_layers, norm)
  self.layers = clones(make_layer, num_layers)
  if norm then
    self.norm = norm
  end
end

local function length_of(self, x)
  return x:size(self.layers[0].self_attn.batch_first and 1 or 0)
end

-- options: mask, src_key_padding_mask, is_causal (nil: looked for in the mask)
function transformer.TransformerEncoder:forward(src, options)
  local o = options or {}
  local key_padding_mask = canonical_mask(o.src_key_padding_mask, src.dtype)
  local mask = canonical_mask(o.mask, src.dtype)
  local output = src
  local is_causal = detect_is_causal_mask(mask, o.is_causal, length_of(self, src))
  local masks = { attn_mask = mask, key_padding_mask = key_padding_mask, is_causal = is_causal }
  for i = 0, self.layers.length - 1 do
    output = self.layers[i](output, masks)
  end
  if self.norm then
    output = self.norm(output)
  end
  return output
end

transformer.TransformerDecoderLayer = nn.class()
function transformer.TransformerDecoderLayer:init(d_model, nhead, dim_feedforward, dropout, activation, batch_first, norm_first)
  self.self_attn = transformer.MultiheadAttention(d_model, nhead, dropout, batch_first)
  self.multihead_attn = transformer.MultiheadAttention(d_model, nhead, dropout, batch_first)
  add_feed_forward(self, d_model, dim_feedforward, dropout)
  self.norm_first = norm_first
  for i = 1, 3 do
    self["norm" .. i] = nn.LayerNorm(d_model)
  end
  for i = 1, 3 do
    self["dropout" .. i] = nn.Dropout(dropout)
  end
  self.activation = activation
end

local function cross_attention(self, x, memory, masks)
  x = self.multihead_attn(x, false,
    { key = memory, attn_mask = masks.attn_mask, key_padding_mask = masks.key_padding_mask, is_causal = masks.is_causal })
  return self.dropout2(x)
end

function transformer.TransformerDecoderLayer:forward(tgt, memory, masks, memory_masks)
  local x = tgt
  if self.norm_first then
    x = x + self_attention(self, self.norm1(x), masks)
    x = x + cross_attention(self, self.norm2(x), memory, memory_masks)
    x = x + feed_forward(self, self.norm3(x), self.dropout3)
  else
    x = self.norm1(x + self_attention(self, x, masks))
    x = self.norm2(x + cross_attention(self, x, memory, memory_masks))
    x = self.norm3(x + feed_forward(self, x, self.dropout3))
  end
  return x
end

transformer.TransformerDecoder = nn.class()
function transformer.TransformerDecoder:init(make_layer, num_layers, norm)
  self.layers = clones(make_layer, num_layers)
  if norm then
    self.norm = norm
  end
end
-- options: tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal
function transformer.TransformerDecoder:forward(tgt, memory, options)
  local o = options or {}
  local output = tgt
  local is_causal = detect_is_causal_mask(o.tgt_mask, o.tgt_is_causal, length_of(self, tgt))
  local masks = { attn_mask = o.tgt_mask, key_padding_mask = o.tgt_key_padding_mask, is_causal = is_causal }
  local memory_masks = { attn_mask = o.memory_mask, key_padding_mask = o.memory_key_padding_mask }
  for i = 0, self.layers.length - 1 do
    output = self.layers[i](output, memory, masks, memory_masks)
  end
  if self.norm then
    output = self.norm(output)
  end
  return output
end

-- options: encoder_layers, decoder_layers, dim_feedforward, dropout, activation, batch_first, norm_first
transformer.Transformer = nn.class()
function transformer.Transformer:init(d_model, nhead, options)
  local o = options or {}
  local function layer(class)
    return function()
      return class(d_model, nhead, o.dim_feedforward or 2048, o.dropout or 0.1, o.activation or "relu", o.batch_first, o.norm_first)
    end
  end
  self.encoder = transformer.TransformerEncoder(layer(transformer.TransformerEncoderLayer), o.encoder_layers or 6, nn.LayerNorm(d_model))
  self.decoder = transformer.TransformerDecoder(layer(transformer.TransformerDecoderLayer), o.decoder_layers or 6, nn.LayerNorm(d_model))
end
-- masks: as both take them, src_mask for the encoder's mask
function transformer.Transformer:forward(src, tgt, masks)
  local o = masks or {}
  local memory = self.encoder(src, { mask = o.src_mask, src_key_padding_mask = o.src_key_padding_mask, is_causal = o.src_is_causal })
  local output = self.decoder(tgt, memory, o)
  return output
end

return transformer
