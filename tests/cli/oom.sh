# a run that does not fit says what would: without a limit, with expandable segments
llama=$ROOT/scenarios/llama7b.lua
mlp=$ROOT/scenarios/mlp.lua
verdict() { vramsim run "$@" --no-view | sed -n '/^  DOES NOT FIT/,/^$/p'; }
verdict "$llama" --device H100-80GB --set batch=3
verdict "$llama" --device RTX4090
verdict "$llama" --device H100-80GB --set batch=3 --set memory_fraction=0.5
verdict "$mlp" --device A4000:total=530MiB,context=500MiB --alloc expandable_segments:True
vramsim run "$llama" --device H100-80GB --set batch=3 --no-view --quiet --json - | grep -E 'would_need|fits_with'
echo "$(vramsim run "$ROOT/tests/data/traces/oom_torch20.pickle.zst" --no-view | grep -c "would need") in a trace"
