-- config_language.lua: rows of config_families.lua: causal language models with layer norms.
local training = use "training"
local rows = {}

local function build(family, config, p)
  config.attention = p.attention
  config.vocab, config.hidden = p.vocab_size, config.hidden or p.hidden_size
  config.tie_embeddings = p.tie_word_embeddings
  if config.hidden % config.heads ~= 0 then
    error(string.format("%s: width %d: expected a multiple of the attention heads, %d", p.path, config.hidden, config.heads), 0)
  end
  local library = use("modeling_" .. family)
  return training.build(library.ForCausalLM or library.GPT2LMHeadModel, setmetatable(config, {}), p.dtype)
end

rows.gpt2 = {
  architecture = "GPT2LMHeadModel",
  learned_positions = "n_positions",
  keys = {
    "vocab_size", 50257, "n_positions", 1024, "n_embd", 768, "n_layer", 12, "n_head", 12, "n_inner", 0,
    "activation_function", "gelu_new", "resid_pdrop", 0.1, "embd_pdrop", 0.1, "attn_pdrop", 0.1, "tie_word_embeddings", true,
    "reorder_and_upcast_attn", false, "pad_token_id", -1,
  },
  aliases = {
    n_embd = "hidden_size", n_positions = "max_position_embeddings", n_head = "num_attention_heads", n_layer = "num_hidden_layers",
  },
  inert = {
    "n_ctx", "summary_type", "summary_use_proj", "summary_activation", "summary_proj_to_labels", "summary_first_dropout",
    "scale_attn_weights", "scale_attn_by_inverse_layer_idx",
  },
  build = function(p)
    return build("gpt2", {
      hidden = p.n_embd,
      intermediate = p.n_inner > 0 and p.n_inner or 4 * p.n_embd,
      layers = p.n_layer,
      heads = p.n_head,
      positions = p.n_positions,
      dropout = p.resid_pdrop,
      attention_dropout = p.attn_pdrop,
      embedding_dropout = p.embd_pdrop,
      act = p.activation_function,
      upcast_attention = p.reorder_and_upcast_attn,
      has_pad_token = p.pad_token_id >= 0,
    }, p)
  end,
}

rows.gpt_neox = {
  architecture = "GPTNeoXForCausalLM",
  theta = 10000.0,
  partial = 0.25, -- of a head turns, when nothing says how much
  keys = {
    "vocab_size", 50432, "hidden_size", 6144, "num_hidden_layers", 44, "num_attention_heads", 64, "intermediate_size", 24576,
    "hidden_act", "gelu", "attention_dropout", 0.0, "hidden_dropout", 0.0, "max_position_embeddings", 2048,
    "tie_word_embeddings", false, "use_parallel_residual", true, "attention_bias", true,
  },
  inert = { "rotary_pct", "rotary_emb_base", "classifier_dropout" },
  build = function(p)
    local head_dim = p.hidden_size // p.num_attention_heads
    return build("gpt_neox", {
      intermediate = p.intermediate_size,
      layers = p.num_hidden_layers,
      heads = p.num_attention_heads,
      dropout = p.hidden_dropout,
      attention_dropout = p.attention_dropout,
      act = p.hidden_act,
      parallel = p.use_parallel_residual,
      attention_bias = p.attention_bias,
      rope = p.rope,
      rotary_dim = math.floor(head_dim * p.partial_rotary_factor),
    }, p)
  end,
}

rows.opt = {
  architecture = "OPTForCausalLM",
  learned_positions = "max_position_embeddings",
  keys = {
    "vocab_size", 50272, "hidden_size", 768, "num_hidden_layers", 12, "ffn_dim", 3072, "max_position_embeddings", 2048,
    "do_layer_norm_before", true, "_remove_final_layer_norm", false, "word_embed_proj_dim", 0, "dropout", 0.1,
    "attention_dropout", 0.0, "num_attention_heads", 12, "activation_function", "relu", "enable_bias", true,
    "layer_norm_elementwise_affine", true, "tie_word_embeddings", true,
  },
  inert = { "activation_dropout", "output_projection" },
  build = function(p)
    return build("opt", {
      intermediate = p.ffn_dim,
      layers = p.num_hidden_layers,
      heads = p.num_attention_heads,
      positions = p.max_position_embeddings,
      embedding = p.word_embed_proj_dim > 0 and p.word_embed_proj_dim or p.hidden_size,
      dropout = p.dropout,
      attention_dropout = p.attention_dropout,
      act = p.activation_function,
      bias = p.enable_bias,
      affine = p.layer_norm_elementwise_affine,
      norm_before = p.do_layer_norm_before,
      final_norm = not p._remove_final_layer_norm,
    }, p)
  end,
}

rows.bloom = {
  architecture = "BloomForCausalLM",
  only_eager = true,
  keys = {
    "vocab_size", 250880, "hidden_size", 64, "n_layer", 2, "n_head", 8, "apply_residual_connection_post_layernorm", false,
    "hidden_dropout", 0.0, "attention_dropout", 0.0, "tie_word_embeddings", true, "pretraining_tp", 1, "slow_but_exact", false,
  },
  aliases = { n_layer = "num_hidden_layers", n_head = "num_attention_heads", hidden_size = "n_embed" },
  inert = {
    "seq_length", "n_inner", "offset_alibi", "masked_softmax_fusion", "bias_dropout_fusion", "skip_bias_add", "skip_bias_add_qkv",
    "attention_softmax_in_fp32",
  },
  build = function(p)
    return build("bloom", {
      layers = p.n_layer,
      heads = p.n_head,
      dropout = p.hidden_dropout,
      attention_dropout = p.attention_dropout,
      residual_after_norm = p.apply_residual_connection_post_layernorm,
      slices = p.slow_but_exact and p.pretraining_tp or 1,
    }, p)
  end,
}

rows.falcon = {
  architecture = "FalconForCausalLM",
  theta = 10000.0,
  keys = {
    "vocab_size", 65024, "hidden_size", 4544, "num_hidden_layers", 32, "num_attention_heads", 71, "num_kv_heads", 0,
    "num_ln_in_parallel_attn", 0, "hidden_dropout", 0.0, "attention_dropout", 0.0, "alibi", false, "new_decoder_architecture", false,
    "multi_query", true, "parallel_attn", true, "bias", false, "max_position_embeddings", 2048, "ffn_hidden_size", 0,
    "activation", "gelu", "tie_word_embeddings", true,
  },
  aliases = { hidden_size = "n_embed", num_hidden_layers = "n_layer", num_attention_heads = "n_head", num_kv_heads = "n_head_kv" },
  inert = { "apply_residual_connection_post_layernorm" },
  build = function(p)
    local norms = p.num_ln_in_parallel_attn
    if p.num_kv_heads > 0 and p.num_attention_heads % p.num_kv_heads ~= 0 then
      error(string.format("%s: num_attention_heads %d: expected a multiple of num_kv_heads %d", p.path, p.num_attention_heads,
        p.num_kv_heads), 0)
    end
    if norms == 0 and p.new_decoder_architecture then
      norms = 2
    end
    if norms == 2 and p.new_decoder_architecture and not p.parallel_attn then
      error(p.path .. ": parallel_attn false: with new_decoder_architecture the model has no such norms (Transformers fails too); "
        .. "set it to true, or num_ln_in_parallel_attn to 1", 0)
    end
    return build("falcon", {
      intermediate = p.ffn_hidden_size > 0 and p.ffn_hidden_size or 4 * p.hidden_size,
      layers = p.num_hidden_layers,
      heads = p.num_attention_heads,
      kv_heads = p.num_kv_heads > 0 and p.num_kv_heads or p.num_attention_heads,
      dropout = p.hidden_dropout,
      attention_dropout = p.attention_dropout,
      act = p.activation,
      parallel = p.parallel_attn,
      grouped = p.new_decoder_architecture,
      two_norms = norms == 2,
      multi_query = p.multi_query,
      alibi = p.alibi,
      bias = p.bias,
      rope = p.rope,
    }, p)
  end,
}

for _, row in pairs(rows) do
  row.task = "language"
  row.lora_targets = { "query_key_value" }
  row.linear_layers = { "query_key_value", "dense", "dense_h_to_4h", "dense_4h_to_h" }
end
rows.gpt2.lora_targets, rows.gpt2.linear_layers = { "c_attn" }, { "c_attn", "c_proj", "c_fc" }
rows.opt.lora_targets = { "q_proj", "v_proj" }
rows.opt.linear_layers = { "k_proj", "v_proj", "q_proj", "out_proj", "fc1", "fc2", "project_in", "project_out" }

return rows
