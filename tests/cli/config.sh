# a config.json of Transformers runs like a scenario, and can be written as one
cat >config.json <<'JSON'
{
  "architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "bfloat16",
  "hidden_size": 128, "intermediate_size": 352, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
  "vocab_size": 1000, "hidden_act": "silu", "rms_norm_eps": 1e-05, "initializer_range": 0.02, "use_cache": true,
  "max_position_embeddings": 512, "head_dim": null, "rope_theta": 500000.0, "attention_bias": false, "temperature": 0.6,
  "rope_scaling": { "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                    "original_max_position_embeddings": 128 },
  "my_own_key": [1, 2], "id2label": { "0": "LABEL_0" }
}
JSON
try run config.json --help-scenario
try run config.json --no-view --set batch=2 --set steps=1 | sed '/FITS/q'
try scenario config.json
try scenario config.json -o scenario.lua
# the same step
vramsim dump requests config.json --set batch=2 >from_config
vramsim dump requests scenario.lua --set batch=2 >from_lua
sed 1d from_config >a && sed 1d from_lua >b && cmp a b && wc -l <a
try run config.json --set hidden_sise=4 --no-view
try validate config.json config.json
# what is wrong is told with its place and what would be right
say() { printf '%s\n' "$1" >bad.json && try run bad.json --no-view; }
say '{"model_type": "llama", "hidden_size": 128,, }'
say '{"model_type": "llama", "hidden_size": 128, "hidden_size": 256}'
say '{"model_type": "llama", "hidden_size": "128"}'
say '{"model_type": "llama", "hidden_size": null}'
say '{"model_type": "llama", "hidden_size": -4}'
say '{"model_type": "llama", "hidden_size": 4.5}'
say '{"model_type": "llama", "num_attention_heads": 3}'
say '{"model_type": "llama", "num_attention_heads": 4, "head_dim": 3}'
say '{"model_type": "llama", "num_attention_heads": 8, "num_key_value_heads": 3}'
say '{"model_type": "llama", "hidden_act": "xielu"}'
say '{"model_type": "llama", "rope_scaling": {"type": "spiral"}}'
say '{"model_type": "llama", "torch_dtype": "float8"}'
say '{"model_type": "llama", "quantization_config": {"bits": 4}}'
say '{"model_type": "llama", "output_hidden_states": true}'
say '{"model_type": "llama", "architectures": ["LlamaForSequenceClassification"]}'
say '{"model_type": "qwen2", "layer_types": ["linear_attention"]}'
say '{"model_type": "mamba"}'
say '{"architectures": ["LlamaForCausalLM"]}'
say '{"model_type": "gemma3", "text_config": {}}'
say '[1, 2]'
echo '{"a": 1}' >some.json
try run some.json
try scenario some.json
try scenario "$ROOT/scenarios/mlp.lua"
try scenario missing.json
