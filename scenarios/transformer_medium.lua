-- transformer_medium.lua: a decoder written with einsum, softmax and loss by hand, with an AdamW of its own that makes new
-- moments in each step, as in courses on language models. `warmup` steps, then one more: the step to compare with a
-- recording that begins when training is under way.
local nn = use "nn"
local training = use "training"

local p = parameters {
  { "d_model", 1024, "width of the residual stream", min = 1 },
  { "layers", 24, "blocks", min = 1, max = 10000 },
  { "heads", 16, "attention heads", min = 1 },
  { "d_ff", 4096, "width of the feed-forward layers", min = 1 },
  { "vocab", 10000, "size of the vocabulary", min = 1 },
  { "batch", 4, "sequences a step", min = 1 },
  { "seq", 128, "tokens a sequence", min = 1 },
  { "autocast", "none", "torch.autocast around forward and loss", one_of = { "none", "bf16", "fp16" } },
  { "mode", "train", "train; or the forward alone, in inference mode", one_of = { "train", "inference" } },
  { "warmup", 5, "steps before the last one", min = 0, max = 10000 },
}
assert(p.d_model % (2 * p.heads) == 0, "d_model must be a multiple of 2 * heads")

local Linear = nn.class()
function Linear:init(d_in, d_out)
  self.weight = nn.Parameter(torch.empty({ d_out, d_in }))
end
function Linear:forward(x)
  return torch.einsum("...a,ba->...b", { x, self.weight })
end

local Embedding = nn.class()
function Embedding:init(vocab_size, d_model)
  self.weight = nn.Parameter(torch.empty({ vocab_size, d_model }))
end
function Embedding:forward(token_ids)
  return self.weight:index(token_ids)
end

local RMSNorm = nn.class()
function RMSNorm:init(hidden_size)
  self.weight = nn.Parameter(torch.ones({ hidden_size }))
end
function RMSNorm:forward(x)
  local in_dtype = x.dtype
  x = x:to(torch.float32)
  local rms = torch.rsqrt(x:pow(2):mean(-1, true) + 1e-5)
  x = x * rms
  return (self.weight * x):to(in_dtype)
end

-- Pairs of neighbours are turned, the turned halves put side by side.
local RotaryEmbedding = nn.class()
function RotaryEmbedding:init(context_length, dim)
  self._freq_cis_cache = nn.Buffer(torch.empty({ 2, context_length, dim // 2 }))
end
function RotaryEmbedding:forward(x)
  local pairs = x:unflatten(-1, { x:size(-1) // 2, 2 }):permute(4, 0, 1, 2, 3):unbind(0)
  local x1, x2 = pairs[1], pairs[2]
  local cos_sin = self._freq_cis_cache:slice(1, nil, x:size(-2)):unbind(0)
  local cos, sin = cos_sin[1], cos_sin[2]
  local x1_rot = cos * x1 - sin * x2
  local x2_rot = sin * x1 + cos * x2
  local result = torch.cat({ x1_rot, x2_rot }, -1)
  return result
end

local function softmax(x)
  local rescaled_input = x - torch.max(x, -1, true)
  local exponentiated_rescaled_input = torch.exp(rescaled_input)
  return exponentiated_rescaled_input / torch.sum(exponentiated_rescaled_input, -1, true)
end

local function scaled_dot_product_attention(Q, K, V, mask)
  local attention_scores = torch.einsum("...ab,...cb->...ac", { Q, K }) / K:size(-1) ^ 0.5
  attention_scores = torch.where(mask, attention_scores, -math.huge)
  local attention_weights = softmax(attention_scores)
  return torch.einsum("...ab,...bc->...ac", { attention_weights, V })
end

local Attention = nn.class()
function Attention:init(positional_encoder)
  self.q_proj = Linear(p.d_model, p.d_model)
  self.k_proj = Linear(p.d_model, p.d_model)
  self.v_proj = Linear(p.d_model, p.d_model)
  self.output_proj = Linear(p.d_model, p.d_model)
  self.positional_encoder = positional_encoder
end
local function heads_first(x)
  return x:unflatten(-1, { p.heads, p.d_model // p.heads }):transpose(1, 2)
end
function Attention:forward(x)
  local Q = self.q_proj(x)
  local K = self.k_proj(x)
  local V = self.v_proj(x)
  Q, K, V = heads_first(Q), heads_first(K), heads_first(V)
  Q = self.positional_encoder(Q)
  K = self.positional_encoder(K)
  local iota = torch.arange(x:size(1))
  local causal_mask = iota:unsqueeze(1):ge(iota:unsqueeze(0)):unsqueeze(0):unsqueeze(0)
  local attn_output = scaled_dot_product_attention(Q, K, V, causal_mask)
  attn_output = attn_output:transpose(1, 2):reshape(x:size(0), x:size(1), p.d_model)
  local output = self.output_proj(attn_output)
  return output
end

local function silu(x)
  return x * torch.sigmoid(x)
end

local SwiGLU = nn.class()
function SwiGLU:init()
  self.w1 = Linear(p.d_model, p.d_ff)
  self.w2 = Linear(p.d_ff, p.d_model)
  self.w3 = Linear(p.d_model, p.d_ff)
end
function SwiGLU:forward(x)
  return self.w2(silu(self.w1(x)) * self.w3(x))
end

local Block = nn.class()
function Block:init(positional_encoder)
  self.attn = Attention(positional_encoder)
  self.ffn = SwiGLU()
  self.ln1 = RMSNorm(p.d_model)
  self.ln2 = RMSNorm(p.d_model)
end
function Block:forward(x)
  local x_attn = self.attn(self.ln1(x))
  local attn_sublayer_output = x + x_attn
  local x_ffn = self.ffn(self.ln2(attn_sublayer_output))
  local ffn_sublayer_output = attn_sublayer_output + x_ffn
  return ffn_sublayer_output
end

local TransformerLM = nn.class()
function TransformerLM:init()
  self.token_embeddings = Embedding(p.vocab, p.d_model)
  self.positional_encoder = RotaryEmbedding(p.seq, p.d_model // p.heads)
  local layers = {}
  for i = 1, p.layers do
    layers[i] = Block(self.positional_encoder)
  end
  self.layers = nn.ModuleList(layers)
  self.ln_final = RMSNorm(p.d_model)
  self.lm_head = Linear(p.d_model, p.vocab)
end
function TransformerLM:forward(x)
  local embedded_tokens = self.token_embeddings(x)
  x = embedded_tokens
  for i = 0, self.layers.length - 1 do
    x = self.layers[i](x)
  end
  x = self.ln_final(x)
  local logits = self.lm_head(x)
  return logits
end

local function log_softmax(x)
  local x_max = torch.max(x, -1, true)
  x = x - x_max
  return x - torch.log(torch.sum(torch.exp(x), -1, true))
end
local function cross_entropy(inputs, targets)
  local negative_log_softmax_logits = -log_softmax(inputs)
  return torch.mean(torch.gather(negative_log_softmax_logits, -1, targets:unsqueeze(-1)))
end

-- AdamW: both moments are new tensors in each step; names last to the end of the step, as in Python.
local function state_or(state, default)
  return state or default
end
local function adamw_step(params, state)
  for i = 1, #params do
    local parameter = params[i]:detach()
    local grad = params[i].grad:detach()
    parameter:sub_(parameter * 1e-5)
    local prev_m_t = state_or(state.m[i], torch.zeros_like(grad))
    local prev_v_t = state_or(state.v[i], torch.zeros_like(grad))
    local m_t = prev_m_t * 0.9 + grad * 0.1
    local v_t = prev_v_t * 0.999 + grad:pow(2) * 0.001
    parameter:sub_(m_t * 1e-3 / (torch.sqrt(v_t) + 1e-8))
    state.m[i] = m_t:as("optimizer_state", "m")
    state.v[i] = v_t:as("optimizer_state", "v")
  end
end

local model = training.build(TransformerLM, nil, "fp32", true)
local params = torch.keep(nn.parameters(model))
local state = { m = torch.list(), v = torch.list() }

local function tokens(steps, name)
  return torch.empty({ steps, p.batch, p.seq }, torch.int64):as("input", name)
end
local is_training = p.mode == "train"
local warmup_inputs = p.warmup > 0 and tokens(p.warmup, "warmup_inputs")
local execution_inputs = tokens(1, "execution_inputs")
local warmup_targets = is_training and p.warmup > 0 and tokens(p.warmup, "warmup_targets")
local execution_targets = is_training and tokens(1, "execution_targets")

local output, loss -- last to the end of the warm-up
local function train(inputs, targets)
  phase "forward"
  local region = torch.autocast_enter(p.autocast)
  output = model(inputs)
  loss = cross_entropy(output, targets)
  torch.autocast_leave(region)
  phase "backward"
  loss:backward()
  phase "optimizer"
  torch.no_grad(adamw_step, params, state)
end
local function infer(inputs)
  phase "forward"
  local region = torch.autocast_enter(p.autocast)
  torch.inference_mode(model, inputs)
  torch.autocast_leave(region)
end

for i = 1, p.warmup do
  begin_step(i)
  if is_training then
    train(warmup_inputs:select(0, i - 1), warmup_targets:select(0, i - 1))
    phase "zero_grad"
    torch.clear_grads(params)
  else
    infer(warmup_inputs:select(0, i - 1))
  end
end
output, loss = nil, nil
begin_step(p.warmup + 1)
if is_training then
  train(execution_inputs:select(0, 0), execution_targets:select(0, 0))
else
  infer(execution_inputs:select(0, 0))
end
