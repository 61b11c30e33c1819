-- llama7b.lua: training steps of LLaMA-7B as Transformers runs it. Any LLaMA-shaped model: set the parameters.
local llama = use "llama"
local nn = use "nn"
local optim = use "optim"
local lora = use "lora"
local amp = use "amp"
local checkpoint = use "checkpoint"

local p = parameters {
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
  { "autocast", "none", "torch.autocast around the forward", one_of = { "none", "bf16", "fp16" } },
  { "attention", "sdpa", "attention implementation", one_of = { "eager", "sdpa" } },
  { "optimizer", "adamw", "optimizer", one_of = optim.names },
  { "optimizer_impl", "foreach", "form of its step; PyTorch chooses foreach on a GPU", one_of = { "forloop", "foreach", "fused" } },
  { "lora_rank", 0, "rank of LoRA adapters, which alone are trained; 0 = none", min = 0 },
  { "lora_dropout", 0.0, "dropout before the adapters", min = 0, max = 1 },
  { "lora_targets", "qv", "layers with adapters: projections of the attention, or all linear ones", one_of = { "qv", "qkvo", "all" } },
  { "input_require_grads", false, "the embedding's output gets a gradient (enable_input_require_grads)" },
  { "checkpoint", "none", "activation checkpointing of every layer", one_of = { "none", "reentrant", "nonreentrant" } },
  { "save_on_cpu", false, "saved tensors go to the host during the forward" },
  { "keep_outputs", true, "a name of the step holds the model's outputs through the backward (out = model(...))" },
  { "weight_decay", -1.0, "of the optimizer; negative = its default" },
  { "scaler", false, "torch.amp.GradScaler around the loss and the step" },
  { "accumulate", 1, "micro-batches a step", min = 1, max = 10000 },
  { "clip", 0.0, "clip_grad_norm_ at this norm; 0 = none", min = 0 },
  { "set_to_none", true, "zero_grad frees the gradients" },
  { "batches", {}, "sequences of each step in turn, in place of batch and steps" },
  { "lengths", {}, "tokens a sequence of each step in turn, in place of seq and steps" },
  { "catch_oom", false, "a step that runs out of memory is given up: its gradients are freed and the next one runs" },
  { "memory_fraction", 1.0, "torch.cuda.set_per_process_memory_fraction at the start; 1 = not called", min = 0, max = 1 },
  { "steps", 2, "training steps", min = 1, max = 10000 },
}
if p.kv_heads == 0 then
  p.kv_heads = p.heads
end
assert(p.hidden % p.heads == 0, "hidden must be a multiple of heads")
assert(p.heads % p.kv_heads == 0, "heads must be a multiple of kv_heads")
seed_case "llama7b"
if p.optimizer_impl == "foreach" and (p.optimizer == "adam" or p.optimizer == "adamw") then
  note "optimizer_impl=foreach adds a copy of the parameters at the optimizer's peak; forloop and fused do not"
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
local optimizer = optim.make(p.optimizer, nn.parameters(model), p.optimizer_impl, p.weight_decay)
local scaler = p.scaler and amp.GradScaler() or nil

local function ids(batch, seq)
  return torch.zeros({ batch, seq }, torch.int64):as("input", "input_ids")
end

local function forward(...)
  if p.save_on_cpu then
    return checkpoint.save_on_cpu(torch.autocast, ...)
  end
  return torch.autocast(...)
end

local function step(input_ids)
  for _ = 1, p.accumulate do
    phase "forward"
    local out = forward(p.autocast, model, input_ids, input_ids)
    local loss = out.loss
    if not p.keep_outputs then
      out = nil
    end
    if p.accumulate > 1 then
      loss = loss / p.accumulate
    end
    phase "backward"
    if scaler then
      scaler:scale(loss):backward()
    else
      loss:backward()
    end
  end
  phase "optimizer"
  if p.clip > 0 then
    if scaler then
      scaler:unscale_(optimizer)
    end
    optim.clip_grad_norm_(optimizer.params, p.clip)
  end
  if scaler then
    scaler:step(optimizer)
    scaler:update()
  else
    optimizer:step()
  end
  phase "zero_grad"
  optimizer:zero_grad(p.set_to_none)
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
    step(fixed or ids(batch_of(i)))
  end
  if p.catch_oom then
    torch.catch_oom(run, recover)
  else
    run()
  end
end
