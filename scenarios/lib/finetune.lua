-- finetune.lua: what a script does to a model between building and training it: adapters, checkpoints, offload. Any model
-- of the library: layers are found as its ModuleLists, the embedding as its first one.
local nn = use "nn"
local checkpoint = use "checkpoint"
local finetune = {}

finetune.rows = use("rows").list {
  { "quantize", "none", "linear layers but the head with weights of 4 bits (double: their scales quantized too) or 8 (bitsandbytes)",
    one_of = { "none", "nf4", "nf4_double", "int8" } },
  { "outlier_columns", 0, "quantize=int8: columns of a layer's input that stay in 16 bits", min = 0 },
  { "prepare_kbit", false, "quantize: as Transformers loads it and prepare_model_for_kbit_training leaves it: other weights float32" },
  { "lora", 0, "rank of LoRA adapters, which alone are trained; 0 = none", min = 0 },
  { "lora_targets", "qv", "layers with adapters: queries and values, all of the attention, or all linear ones",
    one_of = { "qv", "qkvo", "all" } },
  { "dora", false, "adapters with a magnitude (DoRA)" },
  { "lora_dropout", 0.0, "dropout before the adapters", min = 0, max = 1 },
  { "input_require_grads", false, "the embedding's output gets a gradient (enable_input_require_grads), as with a checkpoint" },
  { "freeze_embeddings", false, "the input embeddings are not trained" },
  { "freeze_layers", 0, "the first so many layers of each list of layers are not trained", min = 0 },
  { "checkpoint", "none", "activation checkpointing of the layers", one_of = { "none", "reentrant", "nonreentrant" } },
  { "checkpoint_every", 1, "checkpoint the first of every so many layers", min = 1 },
  { "checkpoint_of", "layers", "what is under a checkpoint: layers, or of each its attention, its MLP, its linear layers, or the products of attention",
    one_of = { "layers", "attention", "mlp", "linears", "core_attention" } },
  { "save_on_cpu", false, "saved tensors go to the host during the forward" },
}

-- The lists of layers: ModuleLists that are in no other one.
local function layer_lists(module, found)
  for _, key in ipairs(module._members) do
    local member = module[key]
    if type(member) == "table" then
      if member.is_module_list then
        found[#found + 1] = member
      else
        layer_lists(member, found)
      end
    end
  end
  return found
end

-- The modules whose outputs begin the model (get_input_embeddings of its parts): what it names itself, else its first embedding.
local function input_embeddings(model)
  if model.input_embeddings then
    return model:input_embeddings()
  end
  local first
  nn.each_module(model, function(module)
    first = first or (module.is_embedding and module)
  end)
  if not first then
    error("input_require_grads: the model has no embedding")
  end
  return { first }
end

local function enable_input_require_grads(model)
  for _, module in ipairs(input_embeddings(model)) do
    use("lora").enable_input_require_grads(module)
  end
end

-- make() is the model; with quantized weights it is built in host memory, quantized on its way to the device.
function finetune.build(p, make)
  if not p.quantize or p.quantize == "none" then
    return make()
  end
  local bitsandbytes = use "bitsandbytes"
  local function quantized(layer)
    if p.quantize == "int8" then
      return use("int8").Linear8bitLt(layer, math.min(p.outlier_columns, layer.weight:size(1)))
    end
    return bitsandbytes.Linear4bit(layer, p.quantize == "nf4_double", p.dtype)
  end
  return nn.cuda(function()
    local model = make()
    bitsandbytes.replace_linears(model, quantized, function(name)
      return name == "lm_head"
    end)
    return model
  end)
end

local function enable_checkpoints(p, model)
  if not p.input_require_grads then -- gradient_checkpointing_enable does it itself
    enable_input_require_grads(model)
  end
  if p.checkpoint_of == "attention" and p.checkpoint == "reentrant" then
    error("checkpoint_of=attention: layers call their attention with keywords, which have no gradient under use_reentrant=True; "
      .. "set checkpoint=nonreentrant", 0)
  end
  local found = 0
  for _, layers in ipairs(layer_lists(model, {})) do
    if (p.checkpoint_of or "layers") == "layers" then
      checkpoint.enable(layers, p.checkpoint == "reentrant", p.checkpoint_every)
    else
      found = found + checkpoint.enable_parts(layers, p.checkpoint == "reentrant", p.checkpoint_every, p.checkpoint_of)
    end
  end
  if found == 0 and (p.checkpoint_of or "layers") ~= "layers" then
    error("checkpoint_of=" .. p.checkpoint_of .. ": the model's layers have no such part", 0)
  end
end

-- requires_grad_(False)
local function freeze(module)
  nn.each_module(module, function(part)
    for _, key in ipairs(part._members) do
      if type(part[key]) == "userdata" then
        part[key].requires_grad = false
      end
    end
  end)
end

local function freeze_parts(p, model)
  if p.freeze_embeddings then
    for _, module in ipairs(input_embeddings(model)) do
      freeze(module)
    end
  end
  for _, layers in ipairs((p.freeze_layers or 0) > 0 and layer_lists(model, {}) or {}) do
    for i = 0, math.min(p.freeze_layers, layers.length) - 1 do
      freeze(layers[i])
    end
  end
end

-- In the order of the scripts that this follows: get_peft_model before gradient_checkpointing_enable.
function finetune.apply(p, model)
  freeze_parts(p, model)
  if p.prepare_kbit then
    assert(p.quantize ~= "none", "prepare_kbit is for quantized weights: set quantize too")
    assert(p.lora > 0 or p.mode == "generate", "prepare_kbit freezes every weight: set lora, or there is nothing to train")
    use("lora").prepare_model_for_kbit_training(model)
  end
  if p.input_require_grads then
    enable_input_require_grads(model)
  end
  if p.lora > 0 then
    local lora = use "lora"
    lora.get_peft_model(model, lora.targets[p.lora_targets],
      { r = p.lora, lora_alpha = 2 * p.lora, lora_dropout = p.lora_dropout, use_dora = p.dora, loaded_quantized = p.prepare_kbit })
  end
  if p.checkpoint ~= "none" then
    enable_checkpoints(p, model)
  end
end

return finetune
