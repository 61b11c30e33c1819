-- gemma.lua: what Gemma 2 and 3 (Transformers 5.24, models/gemma2, models/gemma3) have in place of LLaMA's classes: norms
-- of 1 + weight in fp32, norms behind each block too, and scaled embeddings.
local nn = use "nn"
local llama = use "llama"
local rope = use "rope"
local gemma = {}

local GemmaRMSNorm = nn.class()
gemma.RMSNorm = GemmaRMSNorm
function GemmaRMSNorm:init(dim)
  self.weight = nn.Parameter(torch.zeros({ dim }))
end
local function norm(x)
  return x * torch.rsqrt(x:pow(2):mean(-1, true) + 1e-6)
end
function GemmaRMSNorm:forward(x)
  local output = norm(x:float())
  output = output * (1.0 + self.weight:float())
  return output:to(x.dtype)
end

local GemmaTextScaledWordEmbedding = nn.class()
gemma.Embedding = GemmaTextScaledWordEmbedding
GemmaTextScaledWordEmbedding.is_embedding = true
function GemmaTextScaledWordEmbedding:init(num_embeddings, embedding_dim)
  self.weight = nn.Parameter(torch.empty({ num_embeddings, embedding_dim }))
  self.embed_scale = nn.Buffer(torch.empty({}))
end
function GemmaTextScaledWordEmbedding:forward(input)
  return torch.embedding(self.weight, input) * self.embed_scale:to(self.weight.dtype)
end

-- Gemma 3: frequencies of their own for each kind of layer
local Gemma3RotaryEmbedding = nn.class()
function Gemma3RotaryEmbedding:init(config)
  for _, kind in ipairs(config.rotary_kinds) do
    local curr_inv_freq = rope.compute(config.rotary_dim, config.ropes and config.ropes[kind] or rope.default)
    self[kind .. "_inv_freq"] = nn.Buffer(curr_inv_freq)
    self[kind .. "_original_inv_freq"] = nn.Buffer(curr_inv_freq:clone())
  end
end
function Gemma3RotaryEmbedding:init_weights(config)
  for _, kind in ipairs(config.rotary_kinds) do
    local curr_inv_freq = rope.compute(config.rotary_dim, config.ropes and config.ropes[kind] or rope.default)
    self[kind .. "_inv_freq"]:copy_(curr_inv_freq)
    self[kind .. "_original_inv_freq"]:copy_(curr_inv_freq)
  end
end
function Gemma3RotaryEmbedding:forward(x, position_ids, kind)
  return llama.rotary_embeddings(x, position_ids, self[kind .. "_inv_freq"])
end

local GemmaDecoderLayer = nn.class()
gemma.DecoderLayer = GemmaDecoderLayer
function GemmaDecoderLayer:init(config, layer_idx)
  local classes = config.classes
  self.self_attn = classes.Attention(config, layer_idx)
  self.mlp = classes.MLP(config)
  self.input_layernorm = GemmaRMSNorm(config.hidden)
  self.post_attention_layernorm = GemmaRMSNorm(config.hidden)
  self.pre_feedforward_layernorm = GemmaRMSNorm(config.hidden)
  self.post_feedforward_layernorm = GemmaRMSNorm(config.hidden)
end
function GemmaDecoderLayer:forward(hidden_states, attention_mask, position_embeddings, cache)
  local residual = hidden_states
  hidden_states = self.input_layernorm(hidden_states)
  local _
  hidden_states, _ = self.self_attn(hidden_states, position_embeddings, attention_mask, cache)
  hidden_states = self.post_attention_layernorm(hidden_states)
  hidden_states = residual + hidden_states
  residual = hidden_states
  hidden_states = self.pre_feedforward_layernorm(hidden_states)
  hidden_states = self.mlp(hidden_states)
  hidden_states = self.post_feedforward_layernorm(hidden_states)
  hidden_states = residual + hidden_states
  return hidden_states
end

gemma.gemma3 = setmetatable({ RotaryEmbedding = Gemma3RotaryEmbedding }, { __index = gemma })

return gemma
