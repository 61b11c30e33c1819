-- small_gpt.lua: a GPT written by hand in plain torch, with a mask in memory and attention spelled out.
local nn = use "nn"
local F = use "functional"
local training = use "training"

local p = parameters(training.parameters {
  { "hidden", 384, "width of the residual stream", min = 1 },
  { "layers", 4, "blocks", min = 1, max = 10000 },
  { "heads", 6, "attention heads", min = 1 },
  { "vocab", 5000, "size of the vocabulary", min = 1 },
  { "dropout", 0.1, "of attention and residuals", min = 0, max = 0.99 },
  { "batch", 8, "sequences a step (a micro-batch)", min = 1 },
  { "seq", 256, "tokens a sequence", min = 1 },
})
assert(p.hidden % p.heads == 0, "hidden must be a multiple of heads")

local Block = nn.class()
function Block:init()
  self.ln1 = nn.LayerNorm(p.hidden)
  self.ln2 = nn.LayerNorm(p.hidden)
  self.qkv = nn.Linear(p.hidden, 3 * p.hidden)
  self.proj = nn.Linear(p.hidden, p.hidden)
  self.fc = nn.Linear(p.hidden, 4 * p.hidden)
  self.out = nn.Linear(4 * p.hidden, p.hidden)
  self.drop = nn.Dropout(p.dropout)
end
function Block:forward(x)
  local B, T, C = table.unpack(x.shape)
  local function heads(t)
    return t:view(B, T, p.heads, C // p.heads):transpose(1, 2)
  end
  local q, k, v = self.qkv(self.ln1(x)):split(C, 2)
  q, k, v = heads(q), heads(k), heads(v)
  local a = torch.matmul(q, k:transpose(-2, -1)) * (C // p.heads) ^ -0.5
  a = a:masked_fill(self.mask:slice(2, nil, T):slice(3, nil, T):eq(0), -math.huge)
  a = self.drop(torch.softmax(a, -1))
  local y = torch.matmul(a, v):transpose(1, 2):contiguous():view(B, T, C)
  x = x + self.drop(self.proj(y))
  return x + self.drop(self.out(torch.gelu(self.fc(self.ln2(x)))))
end

local GPT = nn.class()
function GPT:init()
  self.tok = nn.Embedding(p.vocab, p.hidden)
  self.pos = nn.Embedding(p.seq, p.hidden)
  local blocks = {}
  for i = 1, p.layers do
    blocks[i] = Block()
  end
  self.blocks = nn.ModuleList(blocks)
  for _, b in ipairs(blocks) do -- one mask in host memory, a copy for each block on the device
    b.mask = nn.Buffer(torch.tril(torch.ones({ p.seq, p.seq })):view(1, 1, p.seq, p.seq))
  end
  self.ln = nn.LayerNorm(p.hidden)
  self.head = nn.Linear(p.hidden, p.vocab, false)
end
function GPT:forward(i, t)
  local x = self.tok(i) + self.pos(torch.arange(i:size(1)))
  for b = 0, self.blocks.length - 1 do
    x = self.blocks[b](x)
  end
  local lg = self.head(self.ln(x))
  return F.cross_entropy(lg:view(-1, p.vocab), t:view(-1))
end

local model = training.build(GPT, p, p.dtype, true)
local x = torch.zeros({ p.batch, p.seq }, torch.int64):as("input", "x")
local y = torch.zeros({ p.batch, p.seq }, torch.int64):as("input", "y")

training.run(p, model, function()
  return model(x, y)
end)
