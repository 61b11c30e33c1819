# as many weights as the published models have, from the keys of their configs that give the shape
count() { # NAME PUBLISHED BYTES_A_WEIGHT [OPTION...] <CONFIG: the parameters that live when the inputs are made
    name=$1 published=$2 bytes=$3
    shift 3
    cat >"$name.json"
    vramsim dump requests "$name.json" --set steps=1 --set optimizer=sgd --device A100-80GB:total=4096GiB "$@" |
        awk -v name="$name" -v published="$published" -v bytes="$bytes" '
            $2 == "alloc" && $5 == "input" && !done { done = 1; print name, published, sum / bytes }
            done { next }
            $2 == "alloc" && $5 == "parameter" && $NF !~ /inv_freq|position_ids|token_type_ids|embed_scale|correction/ {
                live[$3] = $4
                sum += $4
            }
            $2 ~ /^free/ && ($3 in live) { sum -= live[$3]; delete live[$3] }' OFMT=%.0f CONVFMT=%.0f
}
short='--set seq=1'
# shellcheck disable=SC2086 # words
{
    count Llama-3.1-8B 8030261248 2 $short <<'JSON'
{ "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 32,
  "num_key_value_heads": 8, "vocab_size": 128256, "torch_dtype": "bfloat16", "tie_word_embeddings": false }
JSON
    count Qwen2.5-7B 7615616512 2 $short <<'JSON'
{ "model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944, "num_attention_heads": 28, "num_hidden_layers": 28,
  "num_key_value_heads": 4, "vocab_size": 152064, "torch_dtype": "bfloat16", "tie_word_embeddings": false }
JSON
    count gemma-3-1b 999885952 2 $short <<'JSON'
{ "model_type": "gemma3_text", "head_dim": 256, "hidden_size": 1152, "intermediate_size": 6912, "num_attention_heads": 4,
  "num_hidden_layers": 26, "num_key_value_heads": 1, "vocab_size": 262144, "torch_dtype": "bfloat16" }
JSON
    count Phi-3-mini-4k 3821079552 2 $short <<'JSON'
{ "model_type": "phi3", "hidden_size": 3072, "intermediate_size": 8192, "num_attention_heads": 32, "num_hidden_layers": 32,
  "num_key_value_heads": 32, "vocab_size": 32064, "torch_dtype": "bfloat16" }
JSON
    count Mixtral-8x7B 46702792704 2 $short <<'JSON'
{ "model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 32,
  "num_key_value_heads": 8, "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000, "torch_dtype": "bfloat16" }
JSON
    count Qwen3-30B-A3B 30532122624 2 $short <<'JSON'
{ "model_type": "qwen3_moe", "head_dim": 128, "hidden_size": 2048, "moe_intermediate_size": 768, "num_attention_heads": 32,
  "num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 48, "num_key_value_heads": 4, "vocab_size": 151936,
  "torch_dtype": "bfloat16" }
JSON
    count gpt2 124439808 4 $short <<'JSON'
{ "model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "vocab_size": 50257 }
JSON
    count pythia-1b 1011781632 2 $short <<'JSON'
{ "model_type": "gpt_neox", "hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 8, "num_hidden_layers": 16,
  "vocab_size": 50304, "rotary_pct": 0.25, "torch_dtype": "float16" }
JSON
    count opt-350m 331196416 2 $short <<'JSON'
{ "model_type": "opt", "hidden_size": 1024, "ffn_dim": 4096, "num_attention_heads": 16, "num_hidden_layers": 24,
  "word_embed_proj_dim": 512, "do_layer_norm_before": false, "vocab_size": 50272, "torch_dtype": "float16" }
JSON
    count bloom-560m 559214592 4 $short <<'JSON'
{ "model_type": "bloom", "n_embed": 1024, "n_layer": 24, "num_attention_heads": 16, "vocab_size": 250880 }
JSON
    count falcon-40b 41303293952 2 $short <<'JSON'
{ "model_type": "falcon", "hidden_size": 8192, "num_attention_heads": 128, "num_hidden_layers": 60, "num_kv_heads": 8,
  "new_decoder_architecture": true, "vocab_size": 65024, "torch_dtype": "bfloat16" }
JSON
    count bert-base-uncased 109514298 4 $short <<'JSON'
{ "model_type": "bert", "vocab_size": 30522 }
JSON
    count roberta-base 124697433 4 $short <<'JSON'
{ "model_type": "roberta", "max_position_embeddings": 514, "type_vocab_size": 1, "vocab_size": 50265 }
JSON
    count t5-small 60506624 4 $short <<'JSON'
{ "model_type": "t5", "d_ff": 2048, "d_model": 512, "num_heads": 8, "num_layers": 6 }
JSON
    count vit-base-patch16-224 86567656 4 <<'JSON'
{ "model_type": "vit", "num_labels": 1000 }
JSON
    count whisper-small 241734912 4 $short <<'JSON'
{ "model_type": "whisper", "d_model": 768, "decoder_attention_heads": 12, "decoder_ffn_dim": 3072, "decoder_layers": 12,
  "encoder_attention_heads": 12, "encoder_ffn_dim": 3072, "encoder_layers": 12, "vocab_size": 51865 }
JSON
}
