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
