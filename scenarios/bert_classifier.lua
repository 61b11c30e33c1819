-- bert_classifier.lua: BERT with two classes, fine-tuned by the Trainer of Transformers in 2022 (PyTorch before 2.0: zeroed
-- gradients stay in memory). The defaults are bert-large-uncased and Transformers' own AdamW.
local nn = use "nn"
local training = use "training"
local checkpoint = use "checkpoint"
local optim = use "optim"
local amp = use "amp"
local bert = use "bert_2022"

local p = parameters {
  { "hidden", 1024, "width of the residual stream", min = 1 },
  { "intermediate", 4096, "width of the MLP", min = 1 },
  { "layers", 24, "encoder layers", min = 1, max = 10000 },
  { "heads", 16, "attention heads", min = 1 },
  { "vocab", 30522, "size of the vocabulary", min = 1 },
  { "positions", 512, "learned positions", min = 1 },
  { "dropout", 0.1, "everywhere", min = 0, max = 0.99 },
  { "batch", 4, "samples a micro-batch", min = 1 },
  { "seq", 512, "tokens a sample", min = 1 },
  { "accumulate", 1, "micro-batches a step", min = 1 },
  { "fp16", false, "mixed precision with a gradient scaler" },
  { "checkpoint", false, "gradient checkpointing of the layers" },
  { "optimizer", "adamw", "AdamW and Adafactor of Transformers; bitsandbytes' Adam of 8 bits", one_of = { "adamw", "adafactor", "adam8bit" } },
  { "steps", 3, "training steps", min = 1 },
}
assert(p.hidden % p.heads == 0, "hidden must be a multiple of heads")

local model = training.build(bert.ForSequenceClassification, p, "fp32")
if p.checkpoint then
  checkpoint.enable(model.layer, true)
end
local params = nn.parameters(model)
local optimizer
if p.optimizer == "adamw" then
  optimizer = bert.AdamW(params)
elseif p.optimizer == "adafactor" then
  optimizer = bert.Adafactor(params)
else
  optimizer = optim.make("adamw8bit", params)
end
local scaler = p.fp16 and amp.GradScaler() or nil
local loop = { accumulate = p.accumulate, autocast = p.fp16 and "fp16" or "none", clip = 1.0, set_to_none = false }

local function forward(input_ids, labels)
  return model(input_ids, labels).loss
end
for i = 1, p.steps do
  begin_step(i)
  local input_ids = torch.zeros({ p.batch, p.seq }, torch.int64):as("input", "input_ids")
  local labels = torch.zeros({ p.batch }, torch.int64):as("input", "labels")
  training.step(loop, i, optimizer, scaler, forward, input_ids, labels)
end
