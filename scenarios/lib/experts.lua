-- experts.lua: mixtures of experts in Transformers 5.24 (integrations/moe.py), by its experts_implementation. grouped_mm: tokens
-- sorted by expert, then one grouped product for all experts; sizes do not depend on the routing; how many experts get
-- tokens (routing.lua) matters to devices that run a product an expert. batched_mm: each token's own copy of its experts'
-- weights. eager: a loop over the experts that got tokens, with as many rows as tokens.
local nn = use "nn"
local routing = use "routing"
local llama = use "llama"
local hf = use "hf"
local F = use "functional"
local experts = {}

-- Weights of all experts in two tensors.
local Experts = nn.class()
experts.Experts = Experts
function Experts:init(config)
  self.num_experts, self.implementation = config.experts, config.experts_implementation or "grouped_mm"
  if self.implementation == "eager" then
    self.tokens_of_experts = routing.counter(config)
  else
    self.experts_used = routing.chooser(config)
  end
  self.gate_up_proj = nn.Parameter(torch.empty({ config.experts, 2 * config.expert_width, config.hidden }))
  self.down_proj = nn.Parameter(torch.empty({ config.experts, config.hidden, config.expert_width }))
  self.act_fn = hf.activation(config.activation or "silu")
end

local function apply_gate(self, gate_up_out)
  local gate, up = gate_up_out:chunk(2, -1)
  return self.act_fn(gate) * up
end

local function grouped_mm(input, weight, offs, used)
  return torch.grouped_mm(input:to(weight.dtype), weight, offs, used)
end

local function grouped_linear(input, weight, offs, used)
  local out = grouped_mm(input, weight:transpose(-2, -1), offs, used)
  return out
end

-- nonzero's rows with the count that the routing says
local function where(mask, count)
  local found = mask:nonzero(count)
  return found:select(1, 0), found:select(1, 1)
end

-- the classes' own forward
local function eager_experts_forward(self, hidden_states, top_k_index, top_k_weights)
  local counts, hits = self.tokens_of_experts(hidden_states:size(0)), 0
  for _, count in ipairs(counts) do
    hits = hits + (count > 0 and 1 or 0)
  end
  local final_hidden_states = torch.zeros_like(hidden_states)
  local expert_mask, expert_hit
  local grad_enabled = torch.set_grad_enabled(false)
  do
    local num_tokens, top_k, classes = top_k_index:size(0), top_k_index:size(1), self.num_experts + 1
    expert_mask = torch.zeros({ num_tokens, top_k, classes }, torch.int64) -- one_hot
    expert_mask:scatter_(-1, top_k_index:unsqueeze(-1), 1)
    expert_hit = torch.gt(expert_mask:view(-1, classes):sum(0), 0):nonzero(hits) -- the sum over the two others of its dims
    expert_mask = expert_mask:permute(2, 1, 0)
  end
  torch.set_grad_enabled(grad_enabled)
  local rows, hit = expert_hit:unbind(0), 0
  for expert, count in ipairs(counts) do
    if count > 0 then
      hit = hit + 1
      local expert_idx = rows[hit]:select(0, 0)
      expert_idx:eq(self.num_experts):item()
      local top_k_pos, token_idx = where(expert_mask:select(0, expert - 1), count)
      local current_state = hidden_states:index(token_idx)
      local gate, up = torch.linear(current_state, self.gate_up_proj:select(0, expert - 1)):chunk(2, -1)
      local current_hidden_states = self.act_fn(gate) * up
      current_hidden_states = torch.linear(current_hidden_states, self.down_proj:select(0, expert - 1))
      current_hidden_states = current_hidden_states * top_k_weights:unsqueeze(-1):index_pairs(token_idx, top_k_pos)
      final_hidden_states:index_add_(0, token_idx, current_hidden_states:to(final_hidden_states.dtype))
    end
  end
  return final_hidden_states
end

local function grouped_mm_experts_forward(self, hidden_states, top_k_index, top_k_weights)
  local num_top_k, num_tokens, hidden_dim = top_k_index:size(-1), hidden_states:size(0), hidden_states:size(-1)
  local sample_weights = top_k_weights:reshape(-1)
  local expert_ids = top_k_index:reshape(-1)
  local expert_ids_g, perm = torch.sort(expert_ids)
  local selected_hidden_states_g = hidden_states:index(perm:floor_divide(num_top_k))
  local sample_weights_g = sample_weights:index(perm)
  local histc_input = expert_ids_g:to(torch.int32)
  local tokens_per_expert = torch.histc(histc_input, self.num_experts)
  local offsets = torch.cumsum(tokens_per_expert, 0, torch.int32)
  local used = self.experts_used(num_tokens)
  local proj_out = grouped_linear(selected_hidden_states_g, self.gate_up_proj, offsets, used)
  proj_out = apply_gate(self, proj_out)
  proj_out = grouped_linear(proj_out, self.down_proj, offsets, used)
  local weighted_out = proj_out * sample_weights_g:unsqueeze(-1)
  local inv_perm = torch.empty({ perm:size(0) }, torch.int64)
  inv_perm:index_put_(perm, torch.arange(perm:size(0)))
  weighted_out = weighted_out:index(inv_perm)
  local final_hidden_states = weighted_out:view(num_tokens, num_top_k, hidden_dim):sum(1)
  return final_hidden_states:to(hidden_states.dtype)
end

-- input [S, in], weight [S, out, in]: a product for each row
local function batched_linear(input, weight)
  local out = torch.bmm(weight, input:unsqueeze(-1)):squeeze(-1)
  return out
end

local function batched_mm_experts_forward(self, hidden_states, top_k_index, top_k_weights)
  local num_top_k, num_tokens, hidden_dim = top_k_index:size(-1), hidden_states:size(0), hidden_states:size(-1)
  local selected_hidden_states = F.repeat_interleave(hidden_states, num_top_k, 0)
  local sample_weights = top_k_weights:reshape(-1)
  local expert_ids = top_k_index:reshape(-1)
  local selected_weights = self.gate_up_proj:index(expert_ids)
  local proj_out = batched_linear(selected_hidden_states, selected_weights)
  proj_out = apply_gate(self, proj_out)
  selected_weights = self.down_proj:index(expert_ids)
  proj_out = batched_linear(proj_out, selected_weights)
  local weighted_out = proj_out * sample_weights:unsqueeze(-1)
  local final_hidden_states = weighted_out:view(num_tokens, num_top_k, hidden_dim):sum(1)
  return final_hidden_states:to(hidden_states.dtype)
end

local implementations = {
  eager = eager_experts_forward,
  grouped_mm = grouped_mm_experts_forward,
  batched_mm = batched_mm_experts_forward,
}
function Experts:forward(...)
  return implementations[self.implementation](self, ...)
end

-- ---- Mixtral (models/mixtral/modeling_mixtral.py) ----

local MixtralTopKRouter = nn.class()
function MixtralTopKRouter:init(config)
  self.top_k = config.experts_per_token
  self.weight = nn.Parameter(torch.empty({ config.experts, config.hidden }))
end
function MixtralTopKRouter:forward(hidden_states)
  hidden_states = hidden_states:reshape(-1, hidden_states:size(-1))
  local router_logits = torch.linear(hidden_states, self.weight)
  local router_probs = torch.softmax(router_logits:float(), -1)
  local router_top_value, router_indices = torch.topk(router_probs, self.top_k, -1)
  router_top_value:div_(router_top_value:sum(-1, true))
  return router_logits, router_top_value, router_indices
end

local MixtralSparseMoeBlock = nn.class()
function MixtralSparseMoeBlock:init(config)
  self.jitter_noise = config.router_jitter_noise or 0
  self.gate = MixtralTopKRouter(config)
  self.experts = Experts(config)
end
function MixtralSparseMoeBlock:forward(hidden_states)
  local batch_size, sequence_length, hidden_dim = table.unpack(hidden_states.shape)
  if self.jitter_noise > 0 and self.training ~= false then
    hidden_states:mul_(torch.zeros_like(hidden_states)) -- empty_like(hidden_states).uniform_(...)
  end
  hidden_states = hidden_states:view(-1, hidden_dim)
  local _, top_k_weights, top_k_index = self.gate(hidden_states)
  hidden_states = self.experts(hidden_states, top_k_index, top_k_weights)
  hidden_states = hidden_states:reshape(batch_size, sequence_length, hidden_dim)
  return hidden_states
end

experts.mixtral = { MLP = MixtralSparseMoeBlock }

-- ---- Qwen3-MoE (models/qwen3_moe/modeling_qwen3_moe.py) ----

local Qwen3MoeTopKRouter = nn.class()
function Qwen3MoeTopKRouter:init(config)
  self.norm_topk_prob = config.norm_topk_prob
  self.top_k = config.experts_per_token
  self.weight = nn.Parameter(torch.zeros({ config.experts, config.hidden }))
end
function Qwen3MoeTopKRouter:forward(hidden_states)
  hidden_states = hidden_states:reshape(-1, hidden_states:size(-1))
  local router_logits = torch.linear(hidden_states, self.weight)
  local router_probs = torch.softmax(router_logits, -1, torch.float32)
  local router_top_value, router_indices = torch.topk(router_probs, self.top_k, -1)
  if self.norm_topk_prob then
    router_top_value:div_(router_top_value:sum(-1, true))
  end
  router_top_value = router_top_value:to(router_logits.dtype)
  local router_scores = router_top_value
  return router_logits, router_scores, router_indices
end

local Qwen3MoeSparseMoeBlock = nn.class()
function Qwen3MoeSparseMoeBlock:init(config)
  self.experts = Experts(config)
  self.gate = Qwen3MoeTopKRouter(config)
end
function Qwen3MoeSparseMoeBlock:forward(hidden_states)
  local batch_size, sequence_length, hidden_dim = table.unpack(hidden_states.shape)
  local hidden_states_reshaped = hidden_states:view(-1, hidden_dim)
  local _, routing_weights, selected_experts = self.gate(hidden_states_reshaped)
  local final_hidden_states = self.experts(hidden_states_reshaped, selected_experts, routing_weights)
  return final_hidden_states:reshape(batch_size, sequence_length, hidden_dim)
end

experts.qwen3_moe = {}
-- layer_idx counts from 1; mlp_only_layers from 0
function experts.qwen3_moe.make_mlp(config, layer_idx)
  local is_sparse = layer_idx % (config.sparse_step or 1) == 0
  for _, layer in ipairs(config.mlp_only_layers or {}) do
    is_sparse = is_sparse and layer ~= layer_idx - 1
  end
  return is_sparse and Qwen3MoeSparseMoeBlock(config) or llama.MLP(config)
end

-- ---- DeepSeek-V3 (models/deepseek_v3/modeling_deepseek_v3.py): experts in groups, shared experts beside ----

local DeepseekV3TopkRouter = nn.class()
function DeepseekV3TopkRouter:init(config)
  self.config = config
  self.weight = nn.Parameter(torch.zeros({ config.experts, config.hidden }, torch.float32))
  self.e_score_correction_bias = nn.Buffer(torch.zeros({ config.experts }, torch.float32))
end
function DeepseekV3TopkRouter:forward(hidden_states)
  local config = self.config
  local in_group = config.experts // config.expert_groups
  hidden_states = hidden_states:view(-1, config.hidden)
  local router_logits = torch.linear(hidden_states:to(torch.float32), self.weight:to(torch.float32))
  local scores = router_logits:sigmoid()
  local scores_for_choice = scores + self.e_score_correction_bias
  local function first(values) -- topk(...)[0]
    return values
  end
  local group_scores = first(scores_for_choice:view(-1, config.expert_groups, in_group):topk(2, -1)):sum(-1)
  local function second(_, indices) -- topk(...)[1]
    return indices
  end
  local group_idx = second(torch.topk(group_scores, config.chosen_groups, -1))
  local group_mask = torch.zeros_like(group_scores)
  group_mask:scatter_(1, group_idx, 1)
  local score_mask = group_mask:unsqueeze(-1):expand(-1, config.expert_groups, in_group):reshape(-1, config.experts)
  scores_for_choice = scores_for_choice:masked_fill(score_mask:to(torch.bool):bitwise_not(), -math.huge)
  local topk_indices = second(torch.topk(scores_for_choice, config.experts_per_token, -1))
  local topk_weights = scores:gather(1, topk_indices)
  local denominator
  if config.norm_topk_prob ~= false then
    denominator = topk_weights:sum(-1, true) + 1e-20
    topk_weights:div_(denominator)
  end
  topk_weights = topk_weights * 2.5 -- routed_scaling_factor
  return router_logits, topk_weights, topk_indices
end

local DeepseekV3MoE = nn.class()
experts.DeepseekV3MoE = DeepseekV3MoE
function DeepseekV3MoE:init(config)
  self.experts = Experts(config)
  self.gate = DeepseekV3TopkRouter(config)
  self.shared_experts = llama.MLP(config, config.expert_width * config.shared_experts)
end
function DeepseekV3MoE:forward(hidden_states)
  local residuals = hidden_states
  local batch, seq, width = table.unpack(hidden_states.shape)
  local _, topk_weights, topk_indices = self.gate(hidden_states)
  hidden_states = hidden_states:view(-1, width)
  hidden_states = self.experts(hidden_states, topk_indices, topk_weights):view(batch, seq, width)
  hidden_states = hidden_states + self.shared_experts(residuals)
  return hidden_states
end

experts.mixtral.has_experts, experts.qwen3_moe.has_experts = true, true

return experts
