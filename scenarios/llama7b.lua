-- llama7b.lua: training steps of LLaMA-7B as Transformers runs it. Any LLaMA-shaped model: set the parameters.
local llama = use "llama"
local training = use "training"
local lora = use "lora"
local checkpoint = use "checkpoint"

local p = parameters(training.parameters {
  { "hidden", 4096, "width of the residual stream", min = 1 },
  { "intermediate", 11008, "width of the MLP", min = 1 },
  { "layers", 32, "decoder layers", min = 1, max = 10000 },
  { "heads", 32, "attention heads", min = 1 },
  { "kv_heads", 0, "key/value heads; 0 = heads", min = 0 },
  { "vocab", 32000, "size of the vocabulary", min = 1 },
  { "tie_embeddings", false, "the head shares the embedding's weight" },
  { "batch", 1, "sequences a step (a micro-batch)", min = 1 },
  { "seq", 2048, "tokens a sequence", min = 1 },
  { "dtype", "bf16", "type of the weights", one_of = { "fp32", "bf16", "fp16" } },
  { "attention", "sdpa", "attention implementation", one_of = { "eager", "sdpa" } },
  { "lora_rank", 0, "rank of LoRA adapters, which alone are trained; 0 = none", min = 0 },
  { "lora_dropout", 0.0, "dropout before the adapters", min = 0, max = 1 },
  { "lora_targets", "qv", "layers with adapters: projections of the attention, or all linear ones", one_of = { "qv", "qkvo", "all" } },
  { "input_require_grads", false, "the embedding's output gets a gradient (enable_input_require_grads)" },
  { "checkpoint", "none", "activation checkpointing of every layer", one_of = { "none", "reentrant", "nonreentrant" } },
  { "save_on_cpu", false, "saved tensors go to the host during the forward" },
  { "keep_outputs", true, "a name of the step holds the model's outputs through the backward (out = model(...))" },
  { "batches", {}, "sequences of each step in turn, in place of batch and steps" },
  { "lengths", {}, "tokens a sequence of each step in turn, in place of seq and steps" },
  { "catch_oom", false, "a step that runs out of memory is given up: its gradients are freed and the next one runs" },
  { "memory_fraction", 1.0, "torch.cuda.set_per_process_memory_fraction at the start; 1 = not called", min = 0, max = 1 },
  { "steps", 2, "training steps", min = 1, max = 10000 },
})
if p.kv_heads == 0 then
  p.kv_heads = p.heads
end
assert(p.hidden % p.heads == 0, "hidden must be a multiple of heads")
assert(p.heads % p.kv_heads == 0, "heads must be a multiple of kv_heads")
compare_with_estimate "llama7b" -- printed at the defaults alone
if p.optimizer_impl == "foreach" and (p.optimizer == "adam" or p.optimizer == "adamw") then
  note "optimizer_impl=foreach adds a copy of the trained parameters at the optimizer's peak; forloop and fused do not"
end

if p.memory_fraction < 1 then
  torch.set_per_process_memory_fraction(p.memory_fraction)
end
local model = llama.LlamaForCausalLM(p, p.dtype)
if p.input_require_grads then
  lora.enable_input_require_grads(model.model.embed_tokens)
end
if p.lora_rank > 0 then
  lora.get_peft_model(model, lora.targets[p.lora_targets], { r = p.lora_rank, lora_alpha = 2 * p.lora_rank, lora_dropout = p.lora_dropout })
end
if p.checkpoint ~= "none" then
  checkpoint.enable(model.model.layers, p.checkpoint == "reentrant")
end
local optimizer, scaler = training.optimizer(p, model)

local function ids(batch, seq)
  return torch.zeros({ batch, seq }, torch.int64):as("input", "input_ids")
end

local function forward(input_ids)
  local out
  if p.save_on_cpu then
    out = checkpoint.save_on_cpu(model, input_ids, input_ids)
  else
    out = model(input_ids, input_ids)
  end
  return p.keep_outputs and out or out.loss
end

-- Sequences and tokens of step i: fixed ones, or each step's own.
local function batch_of(i)
  return p.batches[i] or p.batch, p.lengths[i] or p.seq
end

local function recover()
  optimizer:zero_grad()
end

local varies = #p.batches > 0 or #p.lengths > 0
local fixed = not varies and ids(p.batch, p.seq) or nil
for i = 1, varies and math.max(#p.batches, #p.lengths) or p.steps do
  begin_step(i)
  local function run()
    training.step(p, optimizer, scaler, forward, fixed or ids(batch_of(i)))
  end
  if p.catch_oom then
    torch.catch_oom(run, recover)
  else
    run()
  end
end
