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
try run config.json --help-scenario | sed '/^  attention /q' # what follows is the training loop's
try run config.json --no-view --set batch=2 --set steps=1 | grep -E 'vocab|rope_type|not known|FITS'
try scenario config.json
try scenario config.json -o scenario.lua
# the same step
vramsim dump requests config.json --set batch=2 >from_config
vramsim dump requests scenario.lua --set batch=2 >from_lua
sed 1d from_config >a && sed 1d from_lua >b && cmp a b && wc -l <a
try run config.json --set hidden_sise=4 --no-view | sed 's/; known:.*//'
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
say '{"model_type": "gpt2", "n_embd": 64, "hidden_size": 32}'
say '{"model_type": "t5", "feed_forward_proj": "gated-xielu"}'
say '{"model_type": "whisper", "apply_spec_augment": true}'
say '{"model_type": "bert", "architectures": ["BertForSequenceClassification"], "num_labels": 1}'
say '{"model_type": "bert", "architectures": ["BertForMultipleChoice"]}'
say '{"model_type": "mamba"}'
say '{"architectures": ["LlamaForCausalLM"]}'
say '{"model_type": "llava", "text_config": {}}'
# of text and pictures: the text model alone, and that is said
cat >gemma3.json <<'JSON'
{ "model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"], "torch_dtype": "bfloat16", "mm_tokens_per_image": 256,
  "vision_config": { "hidden_size": 1152 }, "text_config": { "model_type": "gemma3_text", "hidden_size": 64, "num_hidden_layers": 2,
  "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 32, "intermediate_size": 96, "vocab_size": 100, "sliding_window": 16 } }
JSON
try run gemma3.json --no-view --set seq=32 | grep -oE 'FITS: .* of|vision_config.*'
vramsim scenario gemma3.json -o gemma3.lua
vramsim dump requests gemma3.json --set seq=32 | sed 1d >a
vramsim dump requests gemma3.lua --set seq=32 | sed 1d >b
cmp a b && wc -l <a
say '[1, 2]'
echo '{"a": 1}' >some.json
try run some.json
try scenario some.json
try scenario "$ROOT/scenarios/mlp.lua"
try scenario missing.json
# an adapter needs the config of its base
cat >adapter_config.json <<'JSON'
{ "peft_type": "LORA", "base_model_name_or_path": "hub/name", "r": 4, "lora_dropout": 0.1, "target_modules": ["q_proj", "v_proj"],
  "modules_to_save": null, "task_type": "CAUSAL_LM", "some_key": 1 }
JSON
try run adapter_config.json --no-view --set batch=2 --set steps=1 | grep -oE 'lora[a-z_]*=[^ ]*|.*not known.*|FITS.*'
try scenario adapter_config.json | tail -n 12
vramsim scenario adapter_config.json -o adapter.lua
vramsim dump requests adapter_config.json | sed 1d >a
vramsim dump requests adapter.lua | sed 1d >b
cmp a b && wc -l <a
say_adapter() { printf '%s\n' "$1" >bad.json && try run bad.json --no-view; }
say_adapter '{"peft_type": "LORA", "r": 4, "target_modules": ".*_proj"}'
say_adapter '{"peft_type": "LORA", "r": 4, "target_modules": ["nowhere"]}'
say_adapter '{"peft_type": "LORA", "r": 0}'
say_adapter '{"peft_type": "LORA", "use_qalora": true}'
say_adapter '{"peft_type": "LORA", "init_lora_weights": "pissa"}'
say_adapter '{"peft_type": "IA3"}'
mkdir alone && cp adapter_config.json alone
try run alone/adapter_config.json
# models that take something else than text
printf '%s\n' '{"model_type": "whisper", "d_model": 64, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "num_mel_bins": 8}' >w.json
try scenario w.json
# what would not run is not written; a pipe that nobody writes to is not waited for
printf '%s\n' '{"model_type": "llama", "rope_scaling": {"rope_type": "ntk"}}' >bad.json
try scenario bad.json
printf '%s\n' '{"model_type": "llama", "rope_scaling": 2}' >bad.json
try scenario bad.json -o never.lua
[ -e never.lua ] || echo 'not written'
mkfifo pipe.json alone/config.json
try scenario pipe.json
try run alone/adapter_config.json
