-- hf.lua: what Transformers' models share (5.24): attention functions, losses, activations.
local nn = use "nn"
local F = use "functional"
local hf = {}

function hf.repeat_kv(hidden_states, n_rep)
  local batch, kv_heads, slen, head_dim = table.unpack(hidden_states.shape)
  if n_rep == 1 then
    return hidden_states
  end
  hidden_states = hidden_states:unsqueeze(2):expand(batch, kv_heads, n_rep, slen, head_dim)
  return hidden_states:reshape(batch, kv_heads * n_rep, slen, head_dim)
end

-- An additive mask of a position bias; positions that the mask or causality hides get the lowest number.
local function create_position_bias_mask(position_bias, attention_mask, is_causal, query, key)
  local position_bias_mask
  if not attention_mask then
    if is_causal then
      local q_length, kv_length = query:size(2), key:size(2)
      local causal_mask = torch.arange(q_length):unsqueeze(-1):ge(torch.arange(kv_length):unsqueeze(0))
      causal_mask = causal_mask:view(1, 1, q_length, kv_length)
      position_bias_mask = torch.where(causal_mask, position_bias, -1.0)
    else
      position_bias_mask = position_bias
    end
  elseif attention_mask.dtype == torch.bool then
    position_bias_mask = torch.where(attention_mask, position_bias, -1.0)
  else
    position_bias_mask = position_bias + attention_mask
  end
  return position_bias_mask:contiguous()
end

-- integrations/sdpa_attention.py. module: num_key_value_groups (1 when nil), is_causal (true when nil)
function hf.sdpa_attention_forward(module, query, key, value, attention_mask, dropout, position_bias)
  local q_length = query:size(2)
  local enable_gqa = false
  local groups = module.num_key_value_groups or 1
  if groups > 1 then
    if not attention_mask and key:size(-1) <= 256 then
      enable_gqa = true
    else
      key = hf.repeat_kv(key, groups)
      value = hf.repeat_kv(value, groups)
    end
  end
  local is_causal = q_length > 1 and not attention_mask and module.is_causal ~= false
  if is_causal and key:size(2) > q_length then -- the prompt in an empty static cache
    key = key:narrow(2, 0, q_length)
    value = value:narrow(2, 0, q_length)
    position_bias = position_bias and position_bias:narrow(3, 0, q_length)
  end
  if position_bias then
    attention_mask = create_position_bias_mask(position_bias, attention_mask, is_causal, query, key)
    is_causal = false
  end
  local attn_output =
    torch.scaled_dot_product_attention(query, key, value, attention_mask, is_causal, enable_gqa, dropout or 0.0)
  attn_output = attn_output:reshape(attn_output:size(0), -1, q_length, value:size(-1))
  attn_output = attn_output:transpose(1, 2):contiguous()
  return attn_output, nil
end

-- The eager attention of opt, gpt_neox and llama: softmax in fp32.
function hf.eager_attention_forward(module, query, key, value, attention_mask, dropout)
  local key_states = hf.repeat_kv(key, module.num_key_value_groups or 1)
  local value_states = hf.repeat_kv(value, module.num_key_value_groups or 1)
  local attn_weights = torch.matmul(query, key_states:transpose(2, 3)) * (module.scaling or 1.0)
  if attention_mask then
    attn_weights = attn_weights + attention_mask
  end
  attn_weights = torch.softmax(attn_weights, -1, torch.float32):to(query.dtype)
  attn_weights = torch.dropout(attn_weights, dropout, module.training)
  local attn_output = torch.matmul(attn_weights, value_states)
  attn_output = attn_output:transpose(1, 2):contiguous()
  return attn_output, attn_weights
end

function hf.attention_interface(config)
  return config.attention == "eager" and hf.eager_attention_forward or hf.sdpa_attention_forward
end

-- activations.py
local NewGELUActivation = nn.class()
function NewGELUActivation:init() end
function NewGELUActivation:forward(input)
  return 0.5 * input * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (input + 0.044715 * torch.pow(input, 3.0))))
end

local FastGELUActivation = nn.class()
function FastGELUActivation:init() end
function FastGELUActivation:forward(input)
  return 0.5 * input * (1.0 + torch.tanh(input * 0.7978845608 * (1.0 + 0.044715 * input * input)))
end

local QuickGELUActivation = nn.class()
function QuickGELUActivation:init() end
function QuickGELUActivation:forward(input)
  return input * torch.sigmoid(1.702 * input)
end

local ReLUSquaredActivation = nn.class()
function ReLUSquaredActivation:init() end
function ReLUSquaredActivation:forward(input)
  local relu_applied = torch.relu(input)
  local squared = torch.pow(relu_applied, 2)
  return squared
end

local activations = {
  gelu = nn.GELU, gelu_pytorch_tanh = nn.GELU, gelu_new = NewGELUActivation, gelu_fast = FastGELUActivation,
  quick_gelu = QuickGELUActivation, relu = nn.ReLU, relu2 = ReLUSquaredActivation, silu = nn.SiLU, swish = nn.SiLU,
  tanh = nn.Tanh, sigmoid = nn.Sigmoid,
}
-- The names that hf.activation knows, as in Transformers' ACT2FN.
hf.activation_names = {
  "gelu", "gelu_pytorch_tanh", "gelu_new", "gelu_fast", "quick_gelu", "relu", "relu2", "silu", "swish", "tanh", "sigmoid",
}
function hf.activation(name)
  return activations[name]()
end

-- PreTrainedModel.tie_weights: a member of another module in place of the module's own; a bias beside it is made anew by a
-- pad of no width (_adjust_bias).
function hf.tie(module, name, source)
  nn.replace(module, name, source)
  if module.bias then
    nn.set_data(module.bias, torch.no_grad(torch.pad, module.bias, { 0, 0 }))
  end
end

local function fixed_cross_entropy(source, target)
  local loss = F.cross_entropy(source, target)
  return loss
end

-- CrossEntropyLoss of all positions, as the masked language models take it
function hf.cross_entropy_loss(logits, labels, vocab_size)
  return F.cross_entropy(logits:view(-1, vocab_size), labels:view(-1))
end

-- loss_utils.py: the logits as float32, the labels padded instead of shifting the logits
function hf.for_causal_lm_loss(logits, labels, vocab_size)
  logits = logits:float()
  labels = torch.pad(labels, { 0, 1 })
  local shift_labels = labels:slice(-1, 1):contiguous()
  logits = logits:view(-1, vocab_size)
  shift_labels = shift_labels:view(-1)
  local loss = fixed_cross_entropy(logits, shift_labels)
  return loss
end

return hf
