-- steps_sequences.lua: training steps of texts and other sequences as plain PyTorch code has them, by name: each returns the function that runs one step.
local nn = use "nn"
local F = use "functional"
local optim = use "optim"
local rnn = use "rnn"
local transformer = use "transformer"
local common = use "steps_common"
local ids, data, adam, plain = common.ids, common.data, common.adam, common.plain
local steps = {}

local GRUModel = nn.class()
function GRUModel:init()
  self.e = nn.Embedding(300, 48)
  self.r = rnn.GRU(48, 64, 2, { batch_first = true, dropout = 0.3 })
  self.d = nn.Dropout(0.3)
  self.h = nn.Linear(64, 300)
end
function GRUModel:forward(x)
  local out = self.r(self.e(x))
  local o, _ = out[1], out[2]
  out = nil
  return self.h(self.d(o))
end

function steps.gru_lm()
  local model = nn.cuda(GRUModel)
  local optimizer = adam(model)
  local x = ids(8, 13)
  return plain(optimizer, function()
    return F.cross_entropy(model(x):view(-1, 300), x:view(-1))
  end, { clip = 0.25 })
end

local LSTMModel = nn.class()
function LSTMModel:init()
  self.e = nn.Embedding(300, 48)
  self.r = rnn.LSTM(48, 40, 2, { bidirectional = true, dropout = 0.2 })
  self.h = nn.Linear(80, 4)
end
function LSTMModel:forward(x)
  local out = self.r(self.e(x))
  local o, hidden = out[1], out[2]
  local h, c = hidden[1], hidden[2]
  out, hidden = nil, nil
  return self.h(torch.cat({ h:select(0, -2), h:select(0, -1) }, 1))
end

function steps.lstm_bi_classifier()
  local model = nn.cuda(LSTMModel)
  local optimizer = adam(model)
  local x, y = ids(11, 8), ids(8)
  return plain(optimizer, function()
    return F.cross_entropy(model(x), y)
  end)
end

local RNNModel = nn.class()
function RNNModel:init()
  self.r = rnn.RNN(5, 32, 1, { batch_first = true })
  self.h = nn.Linear(32, 1)
end
function RNNModel:forward(x)
  local out = self.r(x)
  local o, _ = out[1], out[2]
  out = nil
  return self.h(o:select(1, -1))
end

function steps.rnn_tanh()
  local model = nn.cuda(RNNModel)
  local optimizer = optim.make("sgd", nn.parameters(model), "foreach")
  local x, y = data(16, 20, 5), data(16, 1)
  return plain(optimizer, function()
    return F.mse_loss(model(x), y)
  end)
end

-- A language model of torch.nn.TransformerEncoder with a causal mask.
local EncoderLM = nn.class()
function EncoderLM:init()
  self.emb = nn.Embedding(500, 64)
  self.drop = nn.Dropout(0.2)
  self.enc = transformer.TransformerEncoder(function()
    return transformer.TransformerEncoderLayer(64, 4, 128, 0.2, "relu")
  end, 2)
  self.lin = nn.Linear(64, 500)
  self.pe = nn.Buffer(torch.zeros { 200, 1, 64 })
end
function EncoderLM:forward(src, mask)
  src = self.emb(src) * 8.0
  src = self.drop(src + self.pe:narrow(0, 0, src:size(0)))
  local out = self.enc(src, { mask = mask })
  return self.lin(out)
end

function steps.transformer_lm()
  local model = nn.cuda(EncoderLM)
  local optimizer = optim.make("sgd", nn.parameters(model), "foreach")
  local x = ids(35, 20)
  local y = ids(700)
  local mask = torch.zeros({ 35, 35 }):as("input", "mask")
  return plain(optimizer, function()
    return F.cross_entropy(model(x, mask):view(-1, 500), y)
  end, { clip = 0.5 })
end

-- Translation with torch.nn.Transformer: masks of padding and of what follows.
local Seq2Seq = nn.class()
function Seq2Seq:init()
  self.se = nn.Embedding(400, 64)
  self.te = nn.Embedding(400, 64)
  self.t = transformer.Transformer(64, 4,
    { encoder_layers = 2, decoder_layers = 2, dim_feedforward = 128, dropout = 0.1, batch_first = true })
  self.gen = nn.Linear(64, 400)
end
function Seq2Seq:forward(src, tgt, masks)
  local outs = self.t(self.se(src), self.te(tgt), masks)
  return self.gen(outs)
end

function steps.transformer_s2s()
  local model = nn.cuda(Seq2Seq)
  local optimizer = adam(model)
  local x = ids(8, 21)
  local y = ids(8, 17)
  return plain(optimizer, function()
    local sp, tp = x:eq(1), y:eq(1)
    local tm = transformer.causal_mask(17)
    local sm = torch.zeros({ 21, 21 }):to(torch.bool)
    local logits = model(x, y, {
      src_mask = sm, tgt_mask = tm, src_key_padding_mask = sp, tgt_key_padding_mask = tp, memory_key_padding_mask = sp,
    })
    return F.cross_entropy(logits:reshape(-1, 400), y:reshape(-1), { ignore_index = 1 })
  end)
end

-- Attention to something else, of another width, with its weights; and to itself without biases.
local Crossing = nn.class()
function Crossing:init()
  self.a = transformer.MultiheadAttention(48, 4, 0.0, true, { kdim = 32, vdim = 32 })
  self.b = transformer.MultiheadAttention(48, 6, 0.1, false, { bias = false })
  self.l = nn.LayerNorm(48)
end
function Crossing:forward(x, c)
  local y, w = self.a(x, true, { key = c })
  x = self.l(x + y)
  local z, _ = self.b(x, false)
  return x + z, w
end

function steps.cross_attention()
  local model = nn.cuda(Crossing)
  local optimizer = optim.make("adamw", nn.parameters(model), "foreach")
  local x = data(6, 10, 48)
  local c = data(6, 15, 32)
  return plain(optimizer, function()
    local y, w = model(x, c)
    return y:pow(2):mean()
  end)
end

-- A classifier of texts with padding, norms first.
local PaddedEncoder = nn.class()
function PaddedEncoder:init()
  self.e = nn.Embedding(300, 64)
  self.enc = transformer.TransformerEncoder(function()
    return transformer.TransformerEncoderLayer(64, 4, 256, 0.1, "gelu", true, true)
  end, 2, nn.LayerNorm(64))
  self.h = nn.Linear(64, 3)
end
function PaddedEncoder:forward(x, pad)
  local h = self.enc(self.e(x), { src_key_padding_mask = pad })
  local keep = pad:bitwise_not():unsqueeze(-1):float()
  local pooled = (h * keep):sum(1) / keep:sum(1):clamp { min = 1 }
  return self.h(pooled)
end

function steps.encoder_pad()
  local model = nn.cuda(PaddedEncoder)
  local optimizer = optim.make("adamw", nn.parameters(model), "fused")
  local x = ids(8, 24)
  local y = ids(8)
  return plain(optimizer, function()
    return F.cross_entropy(model(x, x:eq(0)), y)
  end, { autocast = "bf16" })
end

-- LLaMA as its authors wrote it: rotary embeddings by complex numbers, norms by hand, grouped heads.
local HandRMSNorm = nn.class()
function HandRMSNorm:init(dim)
  self.weight = nn.Parameter(torch.ones { dim })
end
local function norm(x)
  return x * torch.rsqrt(x:pow(2):mean(-1, true) + 1e-5)
end
function HandRMSNorm:forward(x)
  local output = norm(x:float()):to(x.dtype)
  return output * self.weight
end

local function pairs_of(x)
  local shape = { x:size(0), x:size(1), x:size(2), -1, 2 }
  return torch.view_as_complex(x:float():reshape(shape))
end
local function apply_rotary_emb(xq, xk, freqs)
  local xq_ = pairs_of(xq)
  local xk_ = pairs_of(xk)
  freqs = freqs:view(1, freqs:size(0), 1, freqs:size(1))
  local xq_out = torch.view_as_real(xq_ * freqs):flatten(3)
  local xk_out = torch.view_as_real(xk_ * freqs):flatten(3)
  return xq_out:to(xq.dtype), xk_out:to(xk.dtype)
end

local LlamaAttention = nn.class()
function LlamaAttention:init()
  self.wq = nn.Linear(128, 128, false)
  self.wk = nn.Linear(128, 32, false)
  self.wv = nn.Linear(128, 32, false)
  self.wo = nn.Linear(128, 128, false)
end
function LlamaAttention:forward(x, freqs)
  local b, s = x:size(0), x:size(1)
  local xq, xk, xv = self.wq(x), self.wk(x), self.wv(x)
  xq = xq:view(b, s, 8, 16)
  xk = xk:view(b, s, 2, 16)
  xv = xv:view(b, s, 2, 16)
  xq, xk = apply_rotary_emb(xq, xk, freqs)
  xq, xk, xv = xq:transpose(1, 2), xk:transpose(1, 2), xv:transpose(1, 2)
  local output = torch.scaled_dot_product_attention(xq, xk, xv, nil, true, true)
  output = output:transpose(1, 2):contiguous():view(b, s, -1)
  return self.wo(output)
end

local LlamaMLP = nn.class()
function LlamaMLP:init()
  self.w1 = nn.Linear(128, 344, false)
  self.w2 = nn.Linear(344, 128, false)
  self.w3 = nn.Linear(128, 344, false)
end
function LlamaMLP:forward(x)
  return self.w2(torch.silu(self.w1(x)) * self.w3(x))
end

local LlamaBlock = nn.class()
function LlamaBlock:init()
  self.attention = LlamaAttention()
  self.feed_forward = LlamaMLP()
  self.attention_norm = HandRMSNorm(128)
  self.ffn_norm = HandRMSNorm(128)
end
function LlamaBlock:forward(x, freqs)
  local h = x + self.attention(self.attention_norm(x), freqs)
  local out = h + self.feed_forward(self.ffn_norm(h))
  return out
end

local LlamaModel = nn.class()
function LlamaModel:init()
  self.tok_embeddings = nn.Embedding(500, 128)
  self.layers = nn.ModuleList { LlamaBlock(), LlamaBlock() }
  self.norm = HandRMSNorm(128)
  self.output = nn.Linear(128, 500, false)
  self.freqs = nn.Buffer(torch.zeros({ 128, 8 }, torch.complex64))
end
function LlamaModel:forward(tokens, targets)
  local h = self.tok_embeddings(tokens)
  local freqs = self.freqs:narrow(0, 0, tokens:size(1))
  for i = 0, 1 do
    h = self.layers[i](h, freqs)
  end
  h = self.norm(h)
  local logits = self.output(h)
  return F.cross_entropy(logits:view(-1, logits:size(-1)), targets:view(-1))
end

function steps.llama_ref()
  local model = nn.cuda(LlamaModel)
  local optimizer = optim.make("adamw", nn.parameters(model), "fused")
  local x = ids(3, 65)
  local y = ids(3, 65)
  return plain(optimizer, function()
    return model(x, y)
  end, { autocast = "bf16", clip = 1.0 })
end

return steps
