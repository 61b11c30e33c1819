-- config_keys.lua: the keys of Transformers' configs (5.24): what each means here, those that do not matter to memory, and
-- those that would change the step and are not modelled. Which family takes which, with which default: config_families.lua.
local hf = use "hf"
local config_keys = {}

-- JSON's null, Python's None
config_keys.null = setmetatable({}, { __name = "null", __tostring = function() return "null" end })

-- KEY = { help, none = the value that stands for None, min =, max =, one_of = }
config_keys.known = {
  vocab_size = { "size of the vocabulary", min = 1 },
  hidden_size = { "width of the residual stream", min = 1 },
  intermediate_size = { "width of the MLP", min = 1 },
  num_hidden_layers = { "layers", min = 1, max = 10000 },
  num_attention_heads = { "attention heads", min = 1 },
  num_key_value_heads = { "key/value heads; 0 = heads", none = 0, min = 0 },
  head_dim = { "width of a head; 0 = hidden_size / heads", none = 0, min = 0 },
  hidden_act = { "activation of the MLP", one_of = hf.activation_names },
  hidden_activation = { "activation of the MLP", one_of = hf.activation_names },
  max_position_embeddings = { "longest sequence", min = 1 },
  original_max_position_embeddings = { "longest sequence before rope scaling; 0 = as max_position_embeddings", none = 0, min = 0 },
  tie_word_embeddings = { "the head shares the embedding's weight" },
  attention_bias = { "biases in the attention's projections" },
  mlp_bias = { "biases in the MLP" },
  attention_dropout = { "dropout of attention", none = 0.0, min = 0, max = 0.99 },
  resid_pdrop = { "dropout of residuals", min = 0, max = 0.99 },
  sliding_window = { "keys that a sliding layer sees; 0 = all", none = 0, min = 0 },
  use_sliding_window = { "some layers slide" },
  max_window_layers = { "first layer that slides", min = 0 },
  sliding_window_pattern = { "one layer of so many sees everything", min = 1 },
  layer_types = { "1 for each layer that slides, 0 for one that does not; empty = as the family has it", none = {} },
  attn_logit_softcapping = { "attention is capped at this; 0 = not", none = 0.0, min = 0 },
  final_logit_softcapping = { "logits are capped at this; 0 = not", none = 0.0, min = 0 },
  partial_rotary_factor = { "part of a head that turns", min = 0, max = 1 },
  num_local_experts = { "experts a layer", min = 1 },
  num_experts = { "experts a layer", min = 1 },
  n_routed_experts = { "experts a layer", min = 1 },
  num_experts_per_tok = { "experts that a token goes through", min = 1 },
  moe_intermediate_size = { "width of an expert's MLP", min = 1 },
  norm_topk_prob = { "weights of a token's experts sum to 1" },
  router_jitter_noise = { "noise on what the router sees", min = 0 },
  decoder_sparse_step = { "one layer of so many has experts", min = 1 },
  mlp_only_layers = { "layers (from 0) with an MLP in place of experts", none = {} },
  n_shared_experts = { "experts that every token goes through", min = 1 },
  n_group = { "groups of experts", min = 1 },
  topk_group = { "groups that a token may choose from", min = 1 },
  first_k_dense_replace = { "first layers, with an MLP", min = 0 },
  q_lora_rank = { "width of compressed queries; 0 = not compressed", none = 0, min = 0 },
  kv_lora_rank = { "width of compressed keys and values", min = 1 },
  qk_rope_head_dim = { "part of a head with rotary embeddings", min = 2 },
  qk_nope_head_dim = { "part of a head without", min = 1 },
  v_head_dim = { "width of a head's values", min = 1 },
  rope_interleave = { "rotary embeddings turn neighbours" },
  n_positions = { "longest sequence", min = 1 },
  n_embd = { "width of the residual stream", min = 1 },
  n_layer = { "layers", min = 1, max = 10000 },
  n_head = { "attention heads", min = 1 },
  n_inner = { "width of the MLP; 0 = 4 * n_embd", none = 0, min = 0 },
  activation_function = { "activation of the MLP", one_of = hf.activation_names },
  activation = { "activation of the MLP", one_of = hf.activation_names },
  embd_pdrop = { "dropout of embeddings", min = 0, max = 0.99 },
  attn_pdrop = { "dropout of attention", min = 0, max = 0.99 },
  reorder_and_upcast_attn = { "attention=eager: scores in fp32" },
  pad_token_id = { "padding token, which the model looks for; -1 = none", none = -1, min = -1 },
  hidden_dropout = { "dropout of embeddings and residuals", min = 0, max = 0.99 },
  dropout = { "dropout of embeddings and residuals", min = 0, max = 0.99 },
  use_parallel_residual = { "attention and MLP beside each other" },
  ffn_dim = { "width of the MLP", min = 1 },
  do_layer_norm_before = { "norms before attention and MLP, else after" },
  _remove_final_layer_norm = { "no norm after the last layer" },
  word_embed_proj_dim = { "width of the embedding; 0 = hidden_size", none = 0, min = 0 },
  enable_bias = { "biases in the linear layers" },
  layer_norm_elementwise_affine = { "norms have weights" },
  pretraining_tp = { "slow_but_exact: slices of a product", min = 1 },
  slow_but_exact = { "products by slices, where pretraining_tp is more than 1" },
  apply_residual_connection_post_layernorm = { "residuals are taken after the norm" },
  num_kv_heads = { "new_decoder_architecture: groups of heads; 0 = as many as heads", none = 0, min = 0 },
  num_ln_in_parallel_attn = { "norms before attention and MLP beside each other; 0 = as the architecture has it", none = 0, min = 0, max = 2 },
  alibi = { "positions by ALiBi, not rotary" },
  new_decoder_architecture = { "keys and values by groups of heads" },
  multi_query = { "one key/value head for all" },
  parallel_attn = { "attention and MLP beside each other" },
  bias = { "biases in the linear layers" },
  ffn_hidden_size = { "width of the MLP; 0 = 4 * hidden_size", none = 0, min = 0 },
  hidden_dropout_prob = { "dropout of embeddings and residuals", min = 0, max = 0.99 },
  attention_probs_dropout_prob = { "dropout of attention", min = 0, max = 0.99 },
  classifier_dropout = { "dropout before a head that classifies; -1 = hidden_dropout_prob", none = -1.0, min = -1, max = 0.99 },
  type_vocab_size = { "kinds of segments", min = 1 },
  d_model = { "width of the residual stream", min = 1 },
  d_kv = { "width of a head", min = 1 },
  d_ff = { "width of the MLP", min = 1 },
  num_layers = { "layers of the encoder", min = 1, max = 10000 },
  num_decoder_layers = { "layers of the decoder; 0 = num_layers", none = 0, min = 0, max = 10000 },
  num_heads = { "attention heads", min = 1 },
  relative_attention_num_buckets = { "kinds of distances", min = 4 },
  relative_attention_max_distance = { "distances beyond are one kind", min = 8 },
  dropout_rate = { "dropout of embeddings, attention and residuals", min = 0, max = 0.99 },
  feed_forward_proj = { "activation of the MLP, gated-NAME with a gate" },
  scale_decoder_outputs = { "the decoder's output is scaled" },
  image_size = { "height and width of an image", min = 1 },
  patch_size = { "height and width of a patch", min = 1 },
  num_channels = { "channels of an image", min = 1 },
  qkv_bias = { "biases for queries, keys and values" },
  num_mel_bins = { "frequencies of a spectrogram", min = 1 },
  encoder_layers = { "layers of the encoder", min = 1, max = 10000 },
  encoder_attention_heads = { "attention heads of the encoder", min = 1 },
  encoder_ffn_dim = { "width of the encoder's MLP", min = 1 },
  decoder_layers = { "layers of the decoder", min = 1, max = 10000 },
  decoder_attention_heads = { "attention heads of the decoder", min = 1 },
  decoder_ffn_dim = { "width of the decoder's MLP", min = 1 },
  activation_dropout = { "dropout after the activation", min = 0, max = 0.99 },
  max_source_positions = { "longest recording, in pairs of frames", min = 1 },
  max_target_positions = { "longest text", min = 1 },
}

-- Of no matter to memory: values, names, tokens, generation, how a checkpoint was made.
config_keys.inert = {
  "model_type", "architectures", "transformers_version", "_name_or_path", "name_or_path", "_commit_hash", "torch_dtype", "dtype",
  "return_dict", "label2id", "id2label", "num_labels", "is_encoder_decoder", "finetuning_task", "task_specific_params",
  "tokenizer_class", "prefix", "bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id", "unk_token_id", "mask_token_id",
  "cls_token_id", "decoder_start_token_id", "initializer_range", "rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon",
  "initializer_factor", "init_std", "use_cache", "pretraining_tp", "gradient_checkpointing", "torchscript", "use_bfloat16", "pruned_heads",
  "tf_legacy_loss", "model_max_length", "rope_theta", "rope_scaling", "rope_parameters", "rope_local_base_freq", "cache_implementation",
  "query_pre_attn_scalar", "attn_implementation", "_attn_implementation", "_flash_attn_2_enabled", "unsloth_version", "unsloth_fixed",
  -- generation
  "assistant_confidence_threshold", "assistant_lookbehind", "bad_words_ids", "begin_suppress_tokens", "diversity_penalty",
  "do_sample", "early_stopping", "encoder_no_repeat_ngram_size", "encoder_repetition_penalty", "epsilon_cutoff", "eta_cutoff",
  "exponential_decay_length_penalty", "forced_bos_token_id", "forced_eos_token_id", "forced_decoder_ids", "length_penalty", "max_length", "min_length",
  "max_new_tokens", "no_repeat_ngram_size", "num_assistant_tokens", "num_assistant_tokens_schedule", "num_beam_groups", "num_beams",
  "num_return_sequences", "output_scores", "remove_invalid_values", "repetition_penalty", "return_dict_in_generate", "suppress_tokens",
  "router_aux_loss_coef", "target_lookbehind", "temperature", "top_k", "top_p", "typical_p",
}

-- The parameter `quantize` for a quantization_config of bitsandbytes; nil: another one.
function config_keys.quantize_of(value)
  if type(value) ~= "table" or (value.quant_method or "bitsandbytes") ~= "bitsandbytes" then
    return nil
  elseif value.load_in_4bit == true then
    return value.bnb_4bit_use_double_quant == true and "nf4_double" or "nf4"
  end
  local as_loaded = value.llm_int8_has_fp16_weight ~= true and (value.llm_int8_threshold or 6.0) > 0
  return value.load_in_8bit == true and as_loaded and "int8" or nil
end

local function is_on(value)
  return value == true
end

-- KEY = { when(value) -> bool, what is not modelled and what to do }
config_keys.refused = {
  quantization_config = {
    function(value)
      return not config_keys.quantize_of(value)
    end,
    "only bitsandbytes' load_in_4bit and load_in_8bit are modelled: take the key out, and the weights are those of dtype",
  },
  output_hidden_states = { is_on, "kept hidden states are not modelled: set it to false" },
  output_attentions = { is_on, "kept attention weights are not modelled: set it to false" },
  is_decoder = { is_on, "the causal form is not modelled: set it to false" },
  add_cross_attention = { is_on, "cross attention is not modelled here: set it to false" },
  use_bidirectional_attention = { is_on, "attention in both directions is not modelled: set it to false" },
  problem_type = {
    function(value)
      return value ~= "single_label_classification"
    end,
    "the loss of one class is modelled alone: take the key out",
  },
  chunk_size_feed_forward = {
    function(value)
      return value ~= 0
    end,
    "chunks of the MLP are not modelled: set it to 0",
  },
  layerdrop = {
    function(value)
      return value ~= 0
    end,
    "layers left out at random are not modelled: set it to 0",
  },
  output_router_logits = { is_on, "the router's loss is not modelled: set it to false" },
  text_config = {
    function()
      return true
    end,
    "a model of text and pictures is not modelled: run what stands in text_config as a config of its own",
  },
}

return config_keys
