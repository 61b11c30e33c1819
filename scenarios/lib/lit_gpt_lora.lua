-- lit_gpt_lora.lua: the adapters of LitGPT (lit_gpt/lora.py, later litgpt/lora.py), for lit_gpt.lua.
local nn = use "nn"
local lit_gpt_lora = {}

-- A linear layer, with an adapter when r > 0
lit_gpt_lora.LoRALinear = nn.class()
function lit_gpt_lora.LoRALinear:init(config, in_features, out_features, bias, is_adapted)
  self.linear = nn.Linear(in_features, out_features, bias)
  self.r = config.lora and is_adapted and config.lora.r or 0
  if self.r > 0 then
    self.lora_dropout = nn.Dropout(config.lora.dropout)
    self.scaling = config.lora.alpha / self.r
    self.lora_A = nn.Parameter(torch.zeros({ self.r, in_features }))
    self.lora_B = nn.Parameter(torch.zeros({ out_features, self.r }))
  end
end
function lit_gpt_lora.LoRALinear:forward(x)
  local pretrained = self.linear(x)
  if self.r == 0 then
    return pretrained
  end
  local lora = torch.matmul(torch.matmul(self.lora_dropout(x), self.lora_A:transpose(0, 1)), self.lora_B:transpose(0, 1))
    * self.scaling
  return pretrained + lora
end

-- result.index_copy(-1, index, source) and index_copy_: the source's gradient is read by index and expanded to the source,
-- which is saved for that (derivatives.yaml).
local function index_copying(in_place)
  return torch.autograd_function {
    name = "IndexCopy",
    forward = function(ctx, source, result, index)
      ctx.save_for_backward(index, source)
      local out
      if in_place then
        out = result:detach()
      else
        out = result:clone()
      end
      return out
    end,
    backward = function(_, saved, grad)
      local grad_source = torch.empty(saved[2].shape, grad.dtype)
      return grad_source, nil, nil
    end,
  }
end
local index_copy, index_copy_ = index_copying(false), index_copying(true)

lit_gpt_lora.LoRAQKVLinear = nn.class()
function lit_gpt_lora.LoRAQKVLinear:init(config)
  local head_size, groups = config.head_size, config.n_query_groups
  self.version, self.heads, self.groups = config.version, config.n_head, groups
  self.out_features = (config.n_head + 2 * groups) * head_size
  self.linear = nn.Linear(config.n_embd, self.out_features, config.bias)
  local lora = config.lora
  self.r, self.enabled, self.qkv_shapes = lora and lora.r or 0, 0, {}
  if lora then
    for i, is_enabled in ipairs { lora.query, lora.key, lora.value } do
      if is_enabled then
        self.enabled = self.enabled + 1
        self.qkv_shapes[self.enabled] = head_size * (i == 1 and config.n_head or groups)
      end
    end
  end
  if self.r == 0 or self.enabled == 0 then
    self.r = 0
    return
  end
  self.width = 0
  for _, size in ipairs(self.qkv_shapes) do
    self.width = self.width + size
  end
  self.lora_dropout = nn.Dropout(lora.dropout)
  self.scaling = lora.alpha / self.r
  self.lora_A = nn.Parameter(torch.zeros({ self.r * self.enabled, config.n_embd }))
  self.lora_B = nn.Parameter(torch.zeros({ self.width, self.r }))
end
-- Columns without an adapter are zeros. In the end the index is a buffer, before it is made anew each time.
function lit_gpt_lora.LoRAQKVLinear:zero_pad(x)
  if self.enabled == 3 then
    return x
  end
  if self.version == "2024-09" then
    local shape = x.shape
    shape[#shape] = self.out_features
    local result = torch.zeros(shape, x.dtype)
    if not self.lora_ind then
      self.lora_ind = nn.Buffer(torch.empty({ self.width }, torch.int64))
    end
    return index_copy_(x, result, self.lora_ind)
  end
  x = x:transpose(0, 1)
  local first, second = x:size(0), x:size(1)
  local result = torch.zeros({ first, second, self.out_features }, x.dtype)
  result = result:view(-1, self.out_features)
  local index = torch.empty({ self.width }, torch.int64)
  result = index_copy(x:reshape(-1, self.width), result, index)
  return result:view(first, second, self.out_features):transpose(0, 1)
end
function lit_gpt_lora.LoRAQKVLinear:conv1d(input, weight)
  if self.heads == self.groups then
    return torch.conv1d(input, weight, nil, nil, nil, nil, self.enabled)
  end
  local input_splitted = table.pack(input:chunk(self.enabled, 1))
  local weight_splitted = table.pack(weight:split_with_sizes(self.qkv_shapes))
  local parts = {}
  for i = 1, self.enabled do
    parts[i] = torch.conv1d(input_splitted[i], weight_splitted[i])
  end
  return torch.cat(parts, 1)
end
function lit_gpt_lora.LoRAQKVLinear:forward(x)
  local pretrained = self.linear(x)
  if self.r == 0 then
    return pretrained
  end
  local after_A = torch.linear(self.lora_dropout(x), self.lora_A)
  local after_B = self:conv1d(after_A:transpose(-2, -1), self.lora_B:unsqueeze(-1)):transpose(-2, -1)
  local lora = self:zero_pad(after_B) * self.scaling
  return pretrained + lora
end

return lit_gpt_lora
