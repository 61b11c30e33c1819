-- dora.lua: DoRA as PEFT 0.21 makes and runs it (tuners/lora/dora.py, variants.py): a LoRA layer with a magnitude.
local nn = use "nn"
local dora = {}

-- DoraLinearLayer
local DoraLinearLayer = nn.class()

local function get_weight_norm(weight, lora_weight, scaling)
  weight = weight + lora_weight * scaling
  local weight_norm = torch.vector_norm(weight, 1):to(weight.dtype)
  return weight_norm
end

local function get_lora_weight(lora_A, lora_B)
  local x_eye = torch.eye(lora_A.weight:size(1), lora_A.weight.dtype)
  local lora_weight = lora_B(lora_A(x_eye)):t()
  return lora_weight
end

-- update_layer: the magnitude starts as the norm of the adapted weight.
function DoraLinearLayer:init(base_layer, lora_A, lora_B, scaling)
  local dtype_is_fp16 = lora_A.dtype == torch.float16
  if dtype_is_fp16 then
    lora_A = lora_A:float()
    lora_B = lora_B:float()
  end
  local weight = base_layer.weight
  local lora_weight = lora_B:matmul(lora_A)
  if dtype_is_fp16 then
    lora_weight = lora_weight:to(torch.float16)
  end
  local weight_norm = get_weight_norm(weight:to(weight.dtype), lora_weight, scaling)
  self.weight = nn.Parameter(weight_norm:detach())
end

function DoraLinearLayer:forward(x, lora_A, lora_B, scaling, base_layer, base_result)
  local lora_weight = get_lora_weight(lora_A, lora_B)
  lora_weight = lora_weight:to(x.dtype)
  local magnitude = self.weight
  local weight = base_layer.weight
  weight = weight:to(x.dtype)
  local weight_norm = get_weight_norm(weight, lora_weight:detach(), scaling)
  weight_norm = weight_norm:detach()
  local mag_norm_scale = (magnitude / weight_norm):view(1, -1)
  local lora_result = lora_B(lora_A(x))
  local bias
  if base_result then
    bias = base_layer.bias
    if bias then
      base_result = base_result - bias
    end
  else
    base_result = torch.linear(x, weight)
  end
  local result_dora = (mag_norm_scale - 1) * base_result + mag_norm_scale * lora_result * scaling
  return result_dora
end

-- What lora.Linear:forward does in place of adding the adapter's result (DoraLinearVariant.forward).
function dora.forward(module, x, result)
  local base_result
  if module.has_dropout and module.lora_dropout.training then
    x = module.lora_dropout(x)
    base_result = nil
  else
    base_result = result
  end
  result = result + module.lora_magnitude_vector(x, module.lora_A, module.lora_B, module.scaling, module.base_layer, base_result)
  return result
end

dora.Layer = DoraLinearLayer
return dora
