-- transformer_small.lua: the forward of a decoder whose products are all einsum, norms too: no training, under autocast or
-- not. `warmup` passes, then one more: the one to compare with a recording that begins when the program is under way.
local nn = use "nn"
local training = use "training"

local p = parameters {
  { "d_model", 768, "width of the residual stream", min = 1 },
  { "layers", 12, "blocks", min = 1, max = 10000 },
  { "heads", 12, "attention heads", min = 1 },
  { "d_ff", 3072, "width of the feed-forward layers", min = 1 },
  { "vocab", 10000, "size of the vocabulary", min = 1 },
  { "batch", 4, "sequences", min = 1 },
  { "seq", 128, "tokens a sequence", min = 1 },
  { "autocast", "none", "torch.autocast around the forward", one_of = { "none", "bf16", "fp16" } },
  { "warmup", 15, "passes before the last one", min = 0, max = 10000 },
}
assert(p.d_model % (2 * p.heads) == 0, "d_model must be a multiple of 2 * heads")

local Embedding = nn.class()
function Embedding:init(num_embeddings, embedding_dim)
  self.embedding = nn.Parameter(torch.empty({ num_embeddings, embedding_dim }))
end
function Embedding:forward(token_ids)
  return self.embedding:index(token_ids)
end

local Linear = nn.class()
function Linear:init(in_features, out_features)
  self.W = nn.Parameter(torch.empty({ out_features, in_features }))
end
function Linear:forward(x)
  local result = torch.einsum("...a,ba->...b", { x, self.W })
  return result
end

local RMSNorm = nn.class()
function RMSNorm:init(d_model)
  self.d_model = d_model
  self.W = nn.Parameter(torch.empty({ 1, d_model }))
end
function RMSNorm:forward(x)
  local in_dtype = x.dtype
  x = x:to(torch.float32)
  local tmp = torch.einsum("...a,...a->...", { x, x })
  tmp = tmp / self.d_model + 1e-5
  local rms = torch.sqrt(tmp):unsqueeze(-1)
  local result = x / rms * self.W
  return result:to(in_dtype)
end

-- Tables of the angles' cosines and sines, each angle twice; pairs of neighbours are turned.
local RotaryPositionalEmbedding = nn.class()
function RotaryPositionalEmbedding:init(d_k, max_seq_len)
  self.cos_cached = nn.Buffer(torch.empty({ max_seq_len, d_k }))
  self.sin_cached = nn.Buffer(torch.empty({ max_seq_len, d_k }))
end
local function rotate_half(x)
  local pairs = x:unflatten(-1, { x:size(-1) // 2, 2 }):unbind(-1)
  local x1, x2 = pairs[1], pairs[2]
  local res = torch.stack({ -x2, x1 }, -1)
  return res:view(x.shape)
end
function RotaryPositionalEmbedding:forward(x, token_positions)
  local cos = self.cos_cached:index(token_positions)
  local sin = self.sin_cached:index(token_positions)
  return (x * cos) + (rotate_half(x) * sin)
end

local function softmax(x)
  local max_x = torch.max(x, -1, true)
  local numerator = torch.exp(x - max_x)
  local denominator = torch.sum(numerator, -1, true)
  return numerator / denominator
end

local function scaled_dot_product_attention(Q, K, V, mask)
  local scores = torch.einsum("...ab,...cb->...ac", { Q, K })
  scores = scores / Q:size(-1) ^ 0.5
  scores = scores:masked_fill(mask:eq(0), -1e9)
  local weights = softmax(scores)
  return torch.einsum("...ab,...bc->...ac", { weights, V })
end

local MultiHeadAttention = nn.class()
function MultiHeadAttention:init()
  self.WK = Linear(p.d_model, p.d_model)
  self.WQ = Linear(p.d_model, p.d_model)
  self.WV = Linear(p.d_model, p.d_model)
  self.WO = Linear(p.d_model, p.d_model)
  self.RoPE_layer = RotaryPositionalEmbedding(p.d_model // p.heads, p.seq)
end
local function heads_first(x)
  return x:unflatten(-1, { p.heads, p.d_model // p.heads }):transpose(1, 2)
end
function MultiHeadAttention:forward(x, token_positions)
  local K = heads_first(self.WK(x))
  local Q = heads_first(self.WQ(x))
  local V = heads_first(self.WV(x))
  K = self.RoPE_layer(K, token_positions)
  Q = self.RoPE_layer(Q, token_positions)
  local mask = torch.tril(torch.ones({ x:size(1), x:size(1) })):to(torch.bool)
  local attention = scaled_dot_product_attention(Q, K, V, mask)
  local combined_attention = attention:transpose(1, 2):reshape(x:size(0), x:size(1), p.d_model)
  return self.WO(combined_attention)
end

local SwiGLU = nn.class()
function SwiGLU:init(d_model, d_ff)
  self.W1 = nn.Parameter(torch.empty({ d_ff, d_model }))
  self.W2 = nn.Parameter(torch.empty({ d_model, d_ff }))
  self.W3 = nn.Parameter(torch.empty({ d_ff, d_model }))
end
local function silu(x)
  return x * torch.sigmoid(x)
end
function SwiGLU:forward(x)
  local in_dtype = x.dtype
  x = x:to(torch.float32)
  local x1 = torch.einsum("ab,...b->a...", { self.W1, x })
  local x2 = torch.einsum("ab,...b->a...", { self.W3, x })
  local result = torch.einsum("ab,b...->...a", { self.W2, silu(x1) * x2 })
  return result:to(in_dtype)
end

local TransformerBlock = nn.class()
function TransformerBlock:init()
  self.RMSNorm_layer1 = RMSNorm(p.d_model)
  self.RMSNorm_layer2 = RMSNorm(p.d_model)
  self.multi_head_attention_layer = MultiHeadAttention()
  self.SwiGLU_layer = SwiGLU(p.d_model, p.d_ff)
end
function TransformerBlock:forward(x, token_positions)
  local rms1 = self.RMSNorm_layer1(x)
  local attention = self.multi_head_attention_layer(rms1, token_positions)
  local res1 = x + attention
  local rms2 = self.RMSNorm_layer2(res1)
  local swiglu = self.SwiGLU_layer(rms2)
  local res2 = res1 + swiglu
  return res2
end

local TransformerLM = nn.class()
function TransformerLM:init()
  self.token_embedding = Embedding(p.vocab, p.d_model)
  local blocks = {}
  for i = 1, p.layers do
    blocks[i] = TransformerBlock()
  end
  self.blocks = nn.ModuleList(blocks)
  self.final_norm = RMSNorm(p.d_model)
  self.final_linear = Linear(p.d_model, p.vocab)
end
function TransformerLM:forward(input_ids)
  local x = self.token_embedding(input_ids)
  local token_positions = torch.arange(input_ids:size(1))
  for i = 0, self.blocks.length - 1 do
    x = self.blocks[i](x, token_positions)
  end
  local normed = self.final_norm(x)
  local logits = self.final_linear(normed)
  return logits
end

local model = training.build(TransformerLM, nil, "fp32", true)
local input_ids = torch.empty({ p.batch, p.seq }, torch.int64):as("input", "input_ids")

for i = 1, p.warmup + 1 do
  begin_step(i)
  phase "forward"
  local region = torch.autocast_enter(p.autocast)
  torch.no_grad(model, input_ids)
  torch.autocast_leave(region)
end
