trace=$ROOT/tests/data/traces/pytorch-2.15/mlp_sgd.pickle.zst
try replay "$trace"
try replay "$trace" --alloc max_split_size_mb:32
try replay "$trace" --all
try replay "$trace" --all --quiet
try replay "$trace" --all --json all.json --quiet
awk -f "$ROOT/tests/support/json.awk" all.json | head -n 6
vramsim replay "$trace" --all --json - | diff - all.json && echo "one JSON"
try replay "$trace" --all --alloc max_split_size_mb:32
try replay "$trace" --all --allocator tensorflow-bfc
try replay "$trace" --set batch=4
try replay "$trace" --alloc expandable_segments

# what no trace tells: the fraction of the card's memory that its program asked to be held to
fraction=$ROOT/tests/data/traces/pytorch-2.15/llama_tiny_gc06_fraction.pickle.zst
card=A100-80GB:total=1900MiB,context=500MiB
try replay "$fraction"
try replay "$fraction" --memory-fraction 0.9 --device "$card"
try replay "$fraction" --memory-fraction 1.5
try replay "$fraction" --memory-fraction 0.9 --all
try replay "$ROOT/scenarios/mlp.lua" --memory-fraction 0.9
