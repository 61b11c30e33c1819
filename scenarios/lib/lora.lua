-- lora.lua: LoRA adapters as PEFT 0.21 makes and runs them (tuners/lora/layer.py, tuners_utils.py).
local nn = use "nn"
local lora = {}

-- target_modules by a scenario's short names. Families name their layers differently; each has only its own of these.
-- qv: PEFT's own choice where none is given; where one layer makes queries, keys and values, that one.
local fused_qkv = { "qkv_proj", "query_key_value", "c_attn" }
local function with(names, ...)
  for _, list in ipairs { ... } do
    for _, name in ipairs(list) do
      names[#names + 1] = name
    end
  end
  return names
end
local qv = with({ "q_proj", "v_proj" }, fused_qkv)
local qkvo = with({ "q_proj", "k_proj", "v_proj", "o_proj", "out_proj", "dense", "attn.c_proj" }, fused_qkv)
local mlp = { "gate_proj", "up_proj", "down_proj", "gate_up_proj", "fc1", "fc2", "dense_h_to_4h", "dense_4h_to_h", "c_fc", "mlp.c_proj" }
lora.targets = { qv = qv, qkvo = qkvo, all = with({}, qkvo, mlp) }

local Identity = nn.class()
function Identity:init() end
function Identity:forward(input)
  return input
end

-- lora.Linear: in place of a Linear layer, which it contains.
lora.Linear = nn.class()
function lora.Linear:init(base_layer, r, lora_alpha, lora_dropout, use_dora)
  local out_features, in_features = base_layer.weight:size(0), base_layer.weight:size(1)
  local dtype = base_layer.weight.dtype
  if base_layer.is_transposed then -- Conv1D
    out_features, in_features = in_features, out_features
  elseif base_layer.compute_dtype then -- a quantized layer
    out_features, in_features = base_layer.out_features, base_layer.in_features
    dtype = base_layer.adapter_dtype or base_layer.compute_dtype
  end
  self.base_layer = base_layer
  self.scaling = lora_alpha / r
  self.lora_dropout = lora_dropout > 0 and nn.Dropout(lora_dropout) or Identity()
  self.lora_A = nn.Linear(in_features, r, false, dtype)
  self.lora_B = nn.Linear(r, out_features, false, dtype)
  self.has_dropout = lora_dropout > 0
  if use_dora then
    self.lora_magnitude_vector = use("dora").Layer(base_layer, self.lora_A.weight, self.lora_B.weight, self.scaling)
  end
end
function lora.Linear:forward(x)
  local result = self.base_layer(x)
  local torch_result_dtype = result.dtype
  x = x:to(self.lora_A.weight.dtype)
  if self.lora_magnitude_vector then
    result = use("dora").forward(self, x, result)
    result = result:to(torch_result_dtype)
    return result
  end
  result = result + self.lora_B(self.lora_A(self.lora_dropout(x))) * self.scaling
  result = result:to(torch_result_dtype)
  return result
end

-- The same around a layer that Transformers has loaded with 4 bits or 8 (tuners/lora/bnb.py): the result of 4 is cloned.
lora.LinearBnb = nn.class()
lora.LinearBnb.init = lora.Linear.init
function lora.LinearBnb:forward(x)
  local result = self.base_layer(x)
  if not self.base_layer.is_int8 then
    result = result:clone()
  end
  local requires_conversion = torch.autocast_dtype() == "none"
  local expected_dtype
  if requires_conversion then
    expected_dtype = result.dtype
    x = x:to(self.lora_A.weight.dtype)
  end
  local output = self.lora_B(self.lora_A(self.lora_dropout(x))) * self.scaling
  if requires_conversion then
    output = output:to(expected_dtype)
  end
  result = result + output
  return result
end

local function freeze(module)
  for _, key in ipairs(module._members) do
    if type(module[key]) == "userdata" then
      module[key].requires_grad = false
    end
  end
end

-- 16-bit adapters become float32 (autocast_adapter_dtype)
local function cast_to_float32(weight)
  if weight.dtype == torch.bfloat16 or weight.dtype == torch.float16 then
    nn.set_data(weight, torch.no_grad(torch.to, weight, torch.float32))
  end
end

local function check_target(layer, name)
  if not (layer.is_linear or layer.is_transposed or layer.compute_dtype) then
    error("LoRA: '" .. name .. "' is no linear layer; adapters on other layers are not modelled: take the name out of the targets", 0)
  end
end

-- get_peft_model: freezes the model and puts adapters at the layers of the names in `targets`.
-- config: r lora_alpha lora_dropout loaded_quantized autocast_adapter_dtype (true when nil)
function lora.get_peft_model(model, targets, config)
  local is_target, adapted = {}, {}
  for _, name in ipairs(targets) do
    is_target[name] = true
  end
  nn.each_module(model, freeze)
  nn.each_module(model, function(module, name)
    for _, key in ipairs(module._members) do
      if (is_target[key] or is_target[tostring(name) .. "." .. tostring(key)]) and type(module[key]) == "table" then
        check_target(module[key], tostring(key))
        local class = config.loaded_quantized and module[key].compute_dtype and lora.LinearBnb or lora.Linear
        module[key] = class(module[key], config.r, config.lora_alpha, config.lora_dropout, config.use_dora)
        adapted[#adapted + 1] = module[key]
      end
    end
  end)
  if #adapted == 0 then
    error("LoRA: the model has no layer of these names: " .. table.concat(targets, ", "), 0)
  end
  if config.autocast_adapter_dtype ~= false then
    for _, layer in ipairs(adapted) do
      cast_to_float32(layer.lora_A.weight)
      cast_to_float32(layer.lora_B.weight)
      if layer.lora_magnitude_vector then
        cast_to_float32(layer.lora_magnitude_vector.weight)
      end
    end
  end
  nn.name(model)
  return model
end

-- prepare_model_for_kbit_training: freezes the model; weights of 16 bits that are not quantized become float32. What it does
-- about checkpoints is the caller's.
function lora.prepare_model_for_kbit_training(model)
  nn.each_module(model, freeze)
  local function cast(module)
    for _, key in ipairs(module._members) do
      local member = module[key]
      if type(member) == "userdata" and not member.is_buffer then
        cast_to_float32(member)
      end
    end
  end
  nn.each_module(model, cast)
  torch.empty_cache()
end

-- PreTrainedModel.enable_input_require_grads: a hook on the embedding, so that checkpoints have an input with a gradient
function lora.enable_input_require_grads(embedding)
  local forward = embedding.forward
  function embedding:forward(...)
    local output = forward(self, ...)
    output.requires_grad = true
    return output
  end
end

return lora
