-- config_decoders.lua: rows of config_families.lua: models of LLaMA's kind and mixtures of experts.
local families_of_llama = use "families"

local function check_multiple(p, what, of)
  if p[what] % p[of] ~= 0 then
    error(string.format("%s: %s %d: expected a multiple of %s %d", p.path, what, p[what], of, p[of]), 0)
  end
end

-- What models of LLaMA's kind have in common: p: the keys' values; rope: see config_rope.lua.
local function decoder(p, fields)
  if p.head_dim == 0 then
    check_multiple(p, "hidden_size", "num_attention_heads")
  end
  if p.num_key_value_heads > 0 then
    check_multiple(p, "num_attention_heads", "num_key_value_heads")
  end
  local config = {
    hidden = p.hidden_size,
    intermediate = p.intermediate_size,
    layers = p.num_hidden_layers,
    heads = p.num_attention_heads,
    kv_heads = p.num_key_value_heads > 0 and p.num_key_value_heads or p.num_attention_heads,
    head_dim = p.head_dim,
    vocab = p.vocab_size,
    tie_embeddings = p.tie_word_embeddings,
    attention = p.attention,
    attention_dropout = p.attention_dropout,
    activation = p.hidden_act or p.hidden_activation,
    rope = p.rope,
    sliding_window = p.sliding_window or 0,
  }
  for name, value in pairs(fields) do
    config[name] = value
  end
  return families_of_llama.make(config, p.dtype)
end

-- The kinds of layers: as given, or as the family has it.
local function layer_types(p, slides)
  local kinds = {}
  if #p.layer_types > 0 and #p.layer_types < p.num_hidden_layers then
    error(string.format("%s: layer_types: %d kinds for %d layers (num_hidden_layers)", p.path, #p.layer_types,
      p.num_hidden_layers), 0)
  end
  for i = 1, p.num_hidden_layers do
    if #p.layer_types > 0 then
      kinds[i] = p.layer_types[i] == 1 and "sliding" or "full"
    else
      kinds[i] = slides(i) and "sliding" or "full"
    end
  end
  return kinds
end

-- qwen2 and qwen3: the last layers slide, when asked for
local function qwen_layer_types(p)
  if not p.use_sliding_window then
    p.sliding_window = 0
  end
  return layer_types(p, function(i)
    return p.sliding_window > 0 and i > p.max_window_layers
  end)
end

local rows = {}

rows.llama = {
  architecture = "LlamaForCausalLM",
  theta = 10000.0,
  keys = {
    "vocab_size", 32000, "hidden_size", 4096, "intermediate_size", 11008, "num_hidden_layers", 32, "num_attention_heads", 32,
    "num_key_value_heads", 0, "head_dim", 0, "hidden_act", "silu", "max_position_embeddings", 2048, "tie_word_embeddings", false,
    "attention_bias", false, "attention_dropout", 0.0, "mlp_bias", false,
  },
  build = function(p)
    return decoder(p, { model = "llama", qkv_bias = p.attention_bias, o_bias = p.attention_bias, mlp_bias = p.mlp_bias })
  end,
}

rows.mistral = {
  architecture = "MistralForCausalLM",
  theta = 10000.0,
  keys = {
    "vocab_size", 32000, "hidden_size", 4096, "intermediate_size", 14336, "num_hidden_layers", 32, "num_attention_heads", 32,
    "num_key_value_heads", 8, "head_dim", 0, "hidden_act", "silu", "max_position_embeddings", 131072, "tie_word_embeddings", false,
    "sliding_window", 4096, "attention_dropout", 0.0,
  },
  build = function(p)
    return decoder(p, { model = "mistral" })
  end,
}

rows.qwen2 = {
  architecture = "Qwen2ForCausalLM",
  theta = 10000.0,
  keys = {
    "vocab_size", 151936, "hidden_size", 4096, "intermediate_size", 22016, "num_hidden_layers", 32, "num_attention_heads", 32,
    "num_key_value_heads", 32, "head_dim", 0, "hidden_act", "silu", "max_position_embeddings", 32768, "tie_word_embeddings", false,
    "use_sliding_window", false, "sliding_window", 4096, "max_window_layers", 28, "layer_types", {}, "attention_dropout", 0.0,
  },
  build = function(p)
    return decoder(p, { model = "qwen2", layer_types = qwen_layer_types(p), sliding_window = p.sliding_window })
  end,
}

rows.qwen3 = {
  architecture = "Qwen3ForCausalLM",
  theta = 10000.0,
  keys = {
    "vocab_size", 151936, "hidden_size", 4096, "intermediate_size", 22016, "num_hidden_layers", 32, "num_attention_heads", 32,
    "num_key_value_heads", 32, "head_dim", 128, "hidden_act", "silu", "max_position_embeddings", 32768, "tie_word_embeddings", false,
    "attention_bias", false, "use_sliding_window", false, "sliding_window", 4096, "max_window_layers", 28, "layer_types", {},
    "attention_dropout", 0.0,
  },
  build = function(p)
    return decoder(p, {
      model = "qwen3",
      layer_types = qwen_layer_types(p),
      sliding_window = p.sliding_window,
      qkv_bias = p.attention_bias,
      o_bias = p.attention_bias,
    })
  end,
}

-- gemma2 and gemma3: layers that slide and layers that see everything, by turns
rows.gemma2 = {
  architecture = "Gemma2ForCausalLM",
  theta = 10000.0,
  only_eager = true,
  keys = {
    "vocab_size", 256000, "hidden_size", 2304, "intermediate_size", 9216, "num_hidden_layers", 26, "num_attention_heads", 8,
    "num_key_value_heads", 4, "head_dim", 256, "hidden_activation", "gelu_pytorch_tanh", "max_position_embeddings", 8192,
    "tie_word_embeddings", true, "attention_bias", false, "attention_dropout", 0.0, "sliding_window", 4096, "layer_types", {},
    "final_logit_softcapping", 30.0, "attn_logit_softcapping", 50.0,
  },
  inert = { "hidden_act" },
  build = function(p)
    return decoder(p, {
      model = "gemma2",
      qkv_bias = p.attention_bias,
      o_bias = p.attention_bias,
      attention_softcap = p.attn_logit_softcapping,
      final_softcap = p.final_logit_softcapping,
      layer_types = layer_types(p, function(i)
        return i % 2 == 1
      end),
    })
  end,
}

rows.gemma3_text = {
  architecture = "Gemma3ForCausalLM",
  theta = 1000000.0,
  local_theta = 10000.0, -- of the layers that slide
  rope_kinds = { "default", "linear", "yarn", "llama3" },
  keys = {
    "vocab_size", 262208, "hidden_size", 2304, "intermediate_size", 9216, "num_hidden_layers", 26, "num_attention_heads", 8,
    "num_key_value_heads", 4, "head_dim", 256, "hidden_activation", "gelu_pytorch_tanh", "max_position_embeddings", 131072,
    "tie_word_embeddings", true, "attention_bias", false, "attention_dropout", 0.0, "sliding_window", 4096,
    "sliding_window_pattern", 6, "layer_types", {}, "final_logit_softcapping", 0.0,
  },
  inert = { "hidden_act", "_sliding_window_pattern", "attn_logit_softcapping" }, -- Gemma3Attention does not pass the cap on
  build = function(p)
    return decoder(p, {
      model = "gemma3",
      qkv_bias = p.attention_bias,
      o_bias = p.attention_bias,
      final_softcap = p.final_logit_softcapping,
      ropes = p.ropes,
      layer_types = layer_types(p, function(i)
        return i % p.sliding_window_pattern ~= 0
      end),
    })
  end,
}

rows.phi3 = {
  architecture = "Phi3ForCausalLM",
  theta = 10000.0,
  rope_kinds = { "default", "longrope" },
  renamed_kinds = { su = "longrope", yarn = "longrope" },
  keys = {
    "vocab_size", 32064, "hidden_size", 3072, "intermediate_size", 8192, "num_hidden_layers", 32, "num_attention_heads", 32,
    "num_key_value_heads", 0, "head_dim", 0, "hidden_act", "silu", "max_position_embeddings", 4096,
    "original_max_position_embeddings", 4096, "tie_word_embeddings", false, "sliding_window", 0, "attention_dropout", 0.0,
    "resid_pdrop", 0.0,
  },
  inert = { "embd_pdrop" }, -- the class has it, the model does not use it
  build = function(p)
    local head_dim = p.head_dim > 0 and p.head_dim or p.hidden_size // p.num_attention_heads
    return decoder(p, {
      model = "phi3",
      residual_dropout = p.resid_pdrop,
      rotary_dim = math.floor(head_dim * (p.partial_rotary_factor or 1.0)),
    })
  end,
}

-- How a layer's experts run and what the values would decide: see experts.lua.
local experts = use("routing").rows

rows.mixtral = {
  architecture = "MixtralForCausalLM",
  aliases = { num_local_experts = "num_experts" },
  theta = 1000000.0,
  parameters = experts,
  keys = {
    "vocab_size", 32000, "hidden_size", 4096, "intermediate_size", 14336, "num_hidden_layers", 32, "num_attention_heads", 32,
    "num_key_value_heads", 8, "head_dim", 0, "hidden_act", "silu", "max_position_embeddings", 131072, "tie_word_embeddings", false,
    "sliding_window", 0, "attention_dropout", 0.0, "num_local_experts", 8, "num_experts_per_tok", 2, "router_jitter_noise", 0.0,
  },
  build = function(p)
    return decoder(p, {
      model = "mixtral",
      experts = p.num_local_experts,
      experts_per_token = p.num_experts_per_tok,
      experts_used = p.experts_used,
      experts_implementation = p.experts_implementation,
      routing = p.routing,
      routing_seed = p.routing_seed,
      expert_tokens = p.expert_tokens,
      router_jitter_noise = p.router_jitter_noise,
    })
  end,
}

rows.qwen3_moe = {
  architecture = "Qwen3MoeForCausalLM",
  aliases = { num_experts = "num_local_experts" },
  theta = 10000.0,
  parameters = experts,
  keys = {
    "vocab_size", 151936, "hidden_size", 2048, "intermediate_size", 6144, "num_hidden_layers", 24, "num_attention_heads", 32,
    "num_key_value_heads", 4, "head_dim", 0, "hidden_act", "silu", "max_position_embeddings", 32768, "tie_word_embeddings", false,
    "attention_bias", false, "use_sliding_window", false, "sliding_window", 4096, "attention_dropout", 0.0,
    "decoder_sparse_step", 1, "moe_intermediate_size", 768, "num_experts_per_tok", 8, "num_experts", 128, "norm_topk_prob", false,
    "mlp_only_layers", {},
  },
  inert = { "max_window_layers" },
  build = function(p)
    return decoder(p, {
      model = "qwen3_moe",
      qkv_bias = p.attention_bias,
      o_bias = p.attention_bias,
      sliding_window = p.use_sliding_window and p.sliding_window or 0,
      experts = p.num_experts,
      experts_per_token = p.num_experts_per_tok,
      experts_used = p.experts_used,
      experts_implementation = p.experts_implementation,
      routing = p.routing,
      routing_seed = p.routing_seed,
      expert_tokens = p.expert_tokens,
      expert_width = p.moe_intermediate_size,
      norm_topk_prob = p.norm_topk_prob,
      sparse_step = p.decoder_sparse_step,
      mlp_only_layers = p.mlp_only_layers,
    })
  end,
}

rows.deepseek_v3 = {
  architecture = "DeepseekV3ForCausalLM",
  aliases = { n_routed_experts = "num_local_experts" },
  theta = 10000.0,
  parameters = experts,
  keys = {
    "vocab_size", 129280, "hidden_size", 7168, "intermediate_size", 18432, "moe_intermediate_size", 2048, "num_hidden_layers", 61,
    "num_attention_heads", 128, "num_key_value_heads", 128, "n_shared_experts", 1, "n_routed_experts", 256, "kv_lora_rank", 512,
    "q_lora_rank", 1536, "qk_rope_head_dim", 64, "v_head_dim", 128, "qk_nope_head_dim", 128, "n_group", 8, "topk_group", 4,
    "num_experts_per_tok", 8, "first_k_dense_replace", 3, "norm_topk_prob", true, "hidden_act", "silu",
    "max_position_embeddings", 4096, "tie_word_embeddings", false, "rope_interleave", true, "attention_bias", false,
    "attention_dropout", 0.0,
  },
  inert = {
    "routed_scaling_factor", "scoring_func", "topk_method", "seq_aux", "aux_loss_alpha", "ep_size", "moe_layer_freq",
    "num_nextn_predict_layers", "num_mtp_layers", "head_dim", "qk_head_dim",
  },
  build = function(p)
    check_multiple(p, "n_routed_experts", "n_group")
    return decoder(p, {
      model = "deepseek_v3",
      head_dim = p.qk_rope_head_dim,
      attention_bias = p.attention_bias,
      experts = p.n_routed_experts,
      experts_per_token = p.num_experts_per_tok,
      experts_used = p.experts_used,
      experts_implementation = p.experts_implementation,
      routing = p.routing,
      routing_seed = p.routing_seed,
      expert_tokens = p.expert_tokens,
      expert_width = p.moe_intermediate_size,
      expert_groups = p.n_group,
      chosen_groups = p.topk_group,
      shared_experts = p.n_shared_experts,
      dense_layers = p.first_k_dense_replace,
      q_rank = p.q_lora_rank,
      kv_rank = p.kv_lora_rank,
      rope_dim = p.qk_rope_head_dim,
      nope_dim = p.qk_nope_head_dim,
      value_dim = p.v_head_dim,
      norm_topk_prob = p.norm_topk_prob,
      rope_interleave = p.rope_interleave,
    })
  end,
}

local attention, mlp = { "q_proj", "k_proj", "v_proj", "o_proj" }, { "gate_proj", "up_proj", "down_proj" }
local function names(...)
  local all = {}
  for _, list in ipairs { ... } do
    table.move(list, 1, #list, #all + 1, all)
  end
  return all
end

for _, row in pairs(rows) do
  row.task, row.has_cache = "language", true
  row.lora_targets, row.linear_layers = { "q_proj", "v_proj" }, names(attention, mlp)
end
rows.phi3.lora_targets, rows.phi3.linear_layers = nil, { "qkv_proj", "o_proj", "gate_up_proj", "down_proj" }
rows.mixtral.linear_layers = attention -- the experts are no layers
rows.qwen3_moe.lora_targets = nil
rows.deepseek_v3.lora_targets, rows.deepseek_v3.linear_layers =
  nil, names({ "q_proj", "q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj" }, mlp)

return rows
