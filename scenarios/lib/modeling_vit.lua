-- modeling_vit.lua: ViTForImageClassification as Transformers 5.24 runs it (models/vit/modeling_vit.py), name by name.
local nn = use "nn"
local hf = use "hf"
local F = use "functional"
local vit = {}

local ViTPatchEmbeddings = nn.class()
function ViTPatchEmbeddings:init(config)
  local size = config.patch_size
  self.num_patches = (config.image_size // size) * (config.image_size // size)
  self.projection = nn.Conv2d(config.channels, config.hidden, size, { stride = size })
end
function ViTPatchEmbeddings:forward(pixel_values)
  return self.projection(pixel_values):flatten(2):transpose(1, 2)
end

local ViTEmbeddings = nn.class()
function ViTEmbeddings:init(config)
  self.cls_token = nn.Parameter(torch.empty({ 1, 1, config.hidden })) -- randn
  self.patch_embeddings = ViTPatchEmbeddings(config)
  self.position_embeddings = nn.Parameter(torch.empty({ 1, self.patch_embeddings.num_patches + 1, config.hidden }))
  self.dropout = nn.Dropout(config.dropout)
end
-- nn.init.trunc_normal_: looks for values out of bounds, of which there are none at 100 standard deviations
local function trunc_normal_(tensor)
  local mask = tensor:lt(-2.0):bitwise_and(tensor:gt(2.0))
  mask:all():item()
end
function ViTEmbeddings:init_weights()
  torch.no_grad(trunc_normal_, self.position_embeddings)
  torch.no_grad(trunc_normal_, self.cls_token)
end
function ViTEmbeddings:forward(pixel_values)
  local batch_size = pixel_values:size(0)
  local embeddings = self.patch_embeddings(pixel_values)
  local cls_tokens = self.cls_token:expand(batch_size, -1, -1)
  embeddings = torch.cat({ cls_tokens, embeddings }, 1)
  embeddings = embeddings + self.position_embeddings
  embeddings = self.dropout(embeddings)
  return embeddings
end

local ViTAttention = nn.class()
function ViTAttention:init(config)
  self.head_dim = config.hidden // config.heads
  self.scaling = self.head_dim ^ -0.5
  self.dropout = config.attention_dropout
  self.attention_interface = hf.attention_interface(config)
  self.is_causal = false
  self.training = true
  self.q_proj = nn.Linear(config.hidden, config.hidden, config.qkv_bias)
  self.k_proj = nn.Linear(config.hidden, config.hidden, config.qkv_bias)
  self.v_proj = nn.Linear(config.hidden, config.hidden, config.qkv_bias)
  self.o_proj = nn.Linear(config.hidden, config.hidden, true)
end
function ViTAttention:forward(hidden_states)
  local batch, seq = hidden_states:size(0), hidden_states:size(1)
  local query_states = self.q_proj(hidden_states):view(batch, seq, -1, self.head_dim):transpose(1, 2)
  local key_states = self.k_proj(hidden_states):view(batch, seq, -1, self.head_dim):transpose(1, 2)
  local value_states = self.v_proj(hidden_states):view(batch, seq, -1, self.head_dim):transpose(1, 2)
  local attn_output, attn_weights = self.attention_interface(self, query_states, key_states, value_states, nil,
    self.training and self.dropout or 0.0)
  attn_output = attn_output:reshape(batch, seq, -1):contiguous()
  attn_output = self.o_proj(attn_output)
  return attn_output, attn_weights
end

local ViTMLP = nn.class()
function ViTMLP:init(config)
  self.activation_fn = hf.activation(config.act)
  self.fc1 = nn.Linear(config.hidden, config.intermediate)
  self.fc2 = nn.Linear(config.intermediate, config.hidden)
end
function ViTMLP:forward(hidden_states)
  hidden_states = self.fc1(hidden_states)
  hidden_states = self.activation_fn(hidden_states)
  hidden_states = self.fc2(hidden_states)
  return hidden_states
end

local ViTLayer = nn.class()
function ViTLayer:init(config)
  self.attention = ViTAttention(config)
  self.layernorm_before = nn.LayerNorm(config.hidden)
  self.layernorm_after = nn.LayerNorm(config.hidden)
  self.mlp = ViTMLP(config)
  self.dropout = nn.Dropout(config.dropout)
end
function ViTLayer:forward(hidden_states)
  local residual = hidden_states
  hidden_states = self.layernorm_before(hidden_states)
  local _
  hidden_states, _ = self.attention(hidden_states)
  hidden_states = self.dropout(hidden_states)
  hidden_states = hidden_states + residual
  residual = hidden_states
  hidden_states = self.layernorm_after(hidden_states)
  hidden_states = self.mlp(hidden_states)
  hidden_states = self.dropout(hidden_states)
  hidden_states = hidden_states + residual
  return hidden_states
end

local ViTModel = nn.class()
function ViTModel:init(config)
  self.embeddings = ViTEmbeddings(config)
  local layers = {}
  for i = 1, config.layers do
    layers[i] = ViTLayer(config)
  end
  self.layers = nn.ModuleList(layers)
  self.layernorm = nn.LayerNorm(config.hidden)
  self.embeddings:init_weights() -- post_init
end
function ViTModel:forward(pixel_values)
  pixel_values = pixel_values:to(self.embeddings.patch_embeddings.projection.weight.dtype)
  local embedding_output = self.embeddings(pixel_values)
  local hidden_states = embedding_output
  for i = 0, self.layers.length - 1 do
    hidden_states = self.layers[i](hidden_states)
  end
  local sequence_output = self.layernorm(hidden_states)
  return { last_hidden_state = sequence_output }
end

-- config: hidden intermediate layers heads image_size patch_size channels labels qkv_bias dropout attention_dropout act
-- attention
vit.ForImageClassification = nn.class()
function vit.ForImageClassification:init(config)
  self.config = config
  self.vit = ViTModel(config)
  self.classifier = nn.Linear(config.hidden, config.labels)
end

-- loss_utils.py, ForSequenceClassificationLoss of one label an image
local function loss_function(labels, pooled_logits, num_labels)
  return F.cross_entropy(pooled_logits:view(-1, num_labels), labels:view(-1))
end

function vit.ForImageClassification:forward(pixel_values, labels)
  local outputs = self.vit(pixel_values)
  local sequence_output = outputs.last_hidden_state
  local pooled_output = sequence_output:select(1, 0)
  local logits = self.classifier(pooled_output)
  local loss = nil
  if labels then
    loss = loss_function(labels, logits, self.config.labels)
  end
  return { loss = loss, logits = logits }
end
function vit.ForImageClassification:input_embeddings()
  return { self.vit.embeddings.patch_embeddings }
end

return vit
