-- config_encoders.lua: rows of config_families.lua: models with an encoder: bert, roberta, t5, vit, whisper.
local training = use "training"
local cudnn = use "cudnn"
local hf = use "hf"
local rows = {}

local function build(class, config, p, heads)
  config.attention = p.attention
  for _, count in ipairs(heads) do
    if config.hidden % count ~= 0 then
      error(string.format("%s: width %d: expected a multiple of the attention heads, %d", p.path, config.hidden, count), 0)
    end
  end
  return training.build(class, setmetatable(config, {}), p.dtype)
end

-- family: how the names of its classes begin
local function bert(family, defaults)
  local is_roberta = family == "Roberta"
  return {
    architecture = family .. "ForMaskedLM",
    other_architectures = {
      family .. "ForSequenceClassification", family .. "ForTokenClassification", family .. "ForQuestionAnswering",
    },
    task = "text",
    learned_positions = "max_position_embeddings",
    lora_targets = { "query", "value" },
    linear_layers = { "query", "key", "value", "dense" },
    keys = {
      "vocab_size", defaults.vocab_size, "hidden_size", 768, "num_hidden_layers", 12, "num_attention_heads", 12,
      "intermediate_size", 3072, "hidden_act", "gelu", "hidden_dropout_prob", 0.1, "attention_probs_dropout_prob", 0.1,
      "max_position_embeddings", 512, "type_vocab_size", 2, "tie_word_embeddings", true, "classifier_dropout", -1.0,
    },
    refused = {
      position_embedding_type = {
        function(value)
          return value ~= "absolute"
        end,
        "Transformers 5.24 has absolute positions alone: take the key out",
      },
    },
    build = function(p)
      local head = p.architecture:sub(#family + 1)
      if head ~= "ForMaskedLM" and p.labels == 1 then
        error(p.path .. ": num_labels 1: a regression is not modelled; --set labels=2 is a classification", 0)
      end
      local class = head == "ForMaskedLM" and use("modeling_bert").ForMaskedLM or use("bert_classification")[head]
      return build(class, {
        roberta = is_roberta,
        hidden = p.hidden_size,
        intermediate = p.intermediate_size,
        layers = p.num_hidden_layers,
        heads = p.num_attention_heads,
        vocab = p.vocab_size,
        positions = p.max_position_embeddings,
        token_types = p.type_vocab_size,
        dropout = p.hidden_dropout_prob,
        attention_dropout = p.attention_probs_dropout_prob,
        act = p.hidden_act,
        tie_embeddings = p.tie_word_embeddings,
        labels = p.labels,
        classifier_dropout = p.classifier_dropout >= 0 and p.classifier_dropout or p.hidden_dropout_prob,
      }, p, { p.num_attention_heads })
    end,
  }
end

rows.bert = bert("Bert", { vocab_size = 30522 })

-- the first positions are the padding's
rows.roberta = bert("Roberta", { vocab_size = 50265 })
rows.roberta.unused_positions = 2

-- "gated-gelu" and the like as the MLP that it names
local function feed_forward(p)
  local is_gated = p.feed_forward_proj:sub(1, 6) == "gated-"
  local act = is_gated and p.feed_forward_proj:sub(7) or p.feed_forward_proj
  if act == "gelu" and is_gated then
    act = "gelu_new"
  end
  for _, name in ipairs(hf.activation_names) do
    if name == act then
      return is_gated, act
    end
  end
  error(string.format("%s: feed_forward_proj: '%s' is not modelled; known, and after 'gated-': %s", p.path, p.feed_forward_proj,
    table.concat(hf.activation_names, " ")), 0)
end

rows.t5 = {
  architecture = "T5ForConditionalGeneration",
  task = "translation",
  lora_targets = { "q", "v" },
  linear_layers = { "q", "k", "v", "o", "wi", "wi_0", "wi_1", "wo" },
  keys = {
    "vocab_size", 32128, "d_model", 512, "d_kv", 64, "d_ff", 2048, "num_layers", 6, "num_decoder_layers", 0, "num_heads", 8,
    "relative_attention_num_buckets", 32, "relative_attention_max_distance", 128, "dropout_rate", 0.1,
    "feed_forward_proj", "relu", "scale_decoder_outputs", true,
  },
  -- the weights are tied in any case: tie_word_embeddings tells T5 1.1, whose outputs are not scaled
  prepare = function(config)
    if config.scale_decoder_outputs == nil then
      config.scale_decoder_outputs = config.tie_word_embeddings ~= false
    end
  end,
  aliases = { d_model = "hidden_size", num_heads = "num_attention_heads", num_layers = "num_hidden_layers", d_kv = "head_dim" },
  inert = { "n_positions", "output_past", "classifier_dropout", "is_gated_act", "dense_act_fn", "tie_word_embeddings" },
  build = function(p)
    local is_gated, act = feed_forward(p)
    return build(use("modeling_t5").ForConditionalGeneration, {
      hidden = p.d_model,
      intermediate = p.d_ff,
      layers = p.num_layers,
      decoder_layers = p.num_decoder_layers > 0 and p.num_decoder_layers or p.num_layers,
      heads = p.num_heads,
      head_dim = p.d_kv,
      vocab = p.vocab_size,
      buckets = p.relative_attention_num_buckets,
      max_distance = p.relative_attention_max_distance,
      dropout = p.dropout_rate,
      act = act,
      gated = is_gated,
      scale_outputs = p.scale_decoder_outputs,
    }, p, {})
  end,
}

rows.vit = {
  architecture = "ViTForImageClassification",
  task = "image",
  parameters = { cudnn.workspace },
  linear_layers = { "q_proj", "k_proj", "v_proj", "o_proj", "fc1", "fc2", "classifier" },
  keys = {
    "hidden_size", 768, "num_hidden_layers", 12, "num_attention_heads", 12, "intermediate_size", 3072, "hidden_act", "gelu",
    "hidden_dropout_prob", 0.0, "attention_probs_dropout_prob", 0.0, "image_size", 224, "patch_size", 16, "num_channels", 3,
    "qkv_bias", true,
  },
  inert = { "encoder_stride", "pooler_output_size", "pooler_act" },
  build = function(p)
    cudnn.configure(p)
    return build(use("modeling_vit").ForImageClassification, {
      hidden = p.hidden_size,
      intermediate = p.intermediate_size,
      layers = p.num_hidden_layers,
      heads = p.num_attention_heads,
      image_size = p.image_size,
      patch_size = p.patch_size,
      channels = p.num_channels,
      labels = p.labels,
      qkv_bias = p.qkv_bias,
      dropout = p.hidden_dropout_prob,
      attention_dropout = p.attention_probs_dropout_prob,
      act = p.hidden_act,
    }, p, { p.num_attention_heads })
  end,
}

local random_layers = {
  function(value)
    return value ~= 0
  end,
  "layers left out at random are not modelled: set it to 0",
}

rows.whisper = {
  architecture = "WhisperForConditionalGeneration",
  task = "speech",
  learned_positions = "max_target_positions",
  parameters = { cudnn.workspace },
  linear_layers = { "k_proj", "v_proj", "q_proj", "out_proj", "fc1", "fc2" },
  keys = {
    "vocab_size", 51865, "num_mel_bins", 80, "encoder_layers", 4, "encoder_attention_heads", 6, "decoder_layers", 4,
    "decoder_attention_heads", 6, "decoder_ffn_dim", 1536, "encoder_ffn_dim", 1536, "activation_function", "gelu", "d_model", 384,
    "dropout", 0.0, "attention_dropout", 0.0, "activation_dropout", 0.0, "max_source_positions", 1500,
    "max_target_positions", 448, "tie_word_embeddings", true,
  },
  aliases = { encoder_layers = "num_hidden_layers" },
  inert = {
    "scale_embedding", "use_weighted_layer_sum", "classifier_proj_size", "mask_time_prob", "mask_time_length",
    "mask_time_min_masks", "mask_feature_prob", "mask_feature_length", "mask_feature_min_masks", "median_filter_width",
  },
  refused = {
    encoder_layerdrop = random_layers,
    decoder_layerdrop = random_layers,
    apply_spec_augment = {
      function(value)
        return value == true
      end,
      "masks at random are not modelled: set it to false",
    },
  },
  build = function(p)
    cudnn.configure(p)
    return build(use("modeling_whisper").ForConditionalGeneration, {
      hidden = p.d_model,
      encoder_layers = p.encoder_layers,
      encoder_heads = p.encoder_attention_heads,
      encoder_intermediate = p.encoder_ffn_dim,
      decoder_layers = p.decoder_layers,
      decoder_heads = p.decoder_attention_heads,
      decoder_intermediate = p.decoder_ffn_dim,
      vocab = p.vocab_size,
      mel_bins = p.num_mel_bins,
      source_positions = p.max_source_positions,
      target_positions = p.max_target_positions,
      dropout = p.dropout,
      attention_dropout = p.attention_dropout,
      activation_dropout = p.activation_dropout,
      act = p.activation_function,
      tie_embeddings = p.tie_word_embeddings,
    }, p, { p.encoder_attention_heads, p.decoder_attention_heads })
  end,
}

return rows
