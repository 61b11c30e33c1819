# a run that happened, and a scenario, under another allocator: both curves, fragmentation, what failed
gc=$ROOT/tests/data/traces/pytorch-2.15/llama_tiny_retry_then_oom.pickle.zst
late=$ROOT/tests/data/traces/transformer_medium_1024_training.pickle.zst
llama=$ROOT/scenarios/llama7b.lua
try replay "$gc"
try replay "$gc" --alloc expandable_segments:True
try replay "$gc" --all
try replay "$late" --all
try replay "$late" --device RTX4090 | head -n 16
# a scenario is run again; its card is that of both runs, and alone it is the change
try replay "$llama" --device RTX4090 --set layers=20 --alloc expandable_segments:True
try replay "$llama" --device RTX4090 | head -n 20
try replay "$llama" --device H100-80GB --set batch=3 --all
try replay "$llama" --set layers=1 --set memory_fraction=0.5 | head -n 3
try replay "$llama" --device H100-80GB --set layers=2 --alloc expandable_segments:True --at reserved --need 2GiB | sed -n '/^simulated:$/,$p'
# files
try replay "$llama" --set layers=1 --alloc max_split_size_mb:64 --json a.json --csv a.csv --svg a.svg --quiet --no-view
awk -f "$ROOT/tests/support/json.awk" a.json | grep -v curve | head -n 40
head -n 3 a.csv
tail -n 1 a.csv
echo "$(wc -l <a.csv) lines, $(grep -c max_split a.svg) title"
try replay "$llama" --all --png a.png
try replay "$llama" --alloc nothing:1
try replay "$late" --allocator tensorflow-bfc --at peak
