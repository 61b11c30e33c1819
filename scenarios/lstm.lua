-- lstm.lua: training steps of a language model of embedding, LSTM and linear head, without cuDNN (PyTorch's own LSTM).
local nn = use "nn"
local F = use "functional"
local optim = use "optim"
local rnn = use "rnn"
local training = use "training"

local p = parameters(training.parameters {
  { "vocab", 10000, "size of the vocabulary", min = 1 },
  { "embedding", 256, "width of the embedding", min = 1 },
  { "hidden", 512, "width of the LSTM", min = 1 },
  { "layers", 2, "layers of the LSTM", min = 1, max = 1000 },
  { "dropout", 0.0, "between layers", min = 0, max = 0.99 },
  { "batch", 16, "sequences a step (a micro-batch)", min = 1 },
  { "seq", 64, "tokens a sequence", min = 1 },
  { "optimizer", "adam", "optimizer", one_of = optim.names },
})

torch.set_cudnn_enabled(false)
local LanguageModel = nn.class()
function LanguageModel:init()
  self.e = nn.Embedding(p.vocab, p.embedding)
  self.r = rnn.LSTM(p.embedding, p.hidden, p.layers, { batch_first = true, dropout = p.dropout })
  self.h = nn.Linear(p.hidden, p.vocab)
end

local model = training.build(function()
  return nn.cuda(LanguageModel)
end, p, p.dtype)
local e, r, h = model.e, model.r, model.h
local x = torch.zeros({ p.batch, p.seq }, torch.int64):as("input", "x")

training.run(p, model, function()
  return (F.cross_entropy(h(r(e(x))[1]):view(-1, p.vocab), x:view(-1)))
end)
