mlp=$ROOT/scenarios/mlp.lua
trace=$ROOT/tests/data/traces/pytorch-2.15/mlp_sgd.pickle.zst
try allocators
peaks() { vramsim run "$mlp" --no-view --device A4000 "$@" | sed -n '/^steps/,$p'; }
for name in native cudaMallocAsync bfc bfc-growth sum-of-live best-packing; do
    echo "run --allocator $name"
    peaks --allocator $name
    try replay "$trace" --allocator $name --device A4000
done
peaks --allocator cudaMallocAsync >one
peaks --alloc backend:cudaMallocAsync | diff - one && echo "the backend of the settings is that allocator"
try replay "$trace" --allocator bfc
try run "$mlp" --no-view --allocator native --alloc backend:cudaMallocAsync
try run "$mlp" --no-view --allocator bfc --alloc expandable_segments:True
# what the framework says, and what would be needed
verdict() { vramsim run "$mlp" --no-view --device A4000:total=540MiB,context=500MiB "$@" | sed -n '/DOES NOT FIT/,/^$/p;/the framework says/,/^$/p'; }
verdict --alloc backend:cudaMallocAsync
verdict --allocator bfc
verdict --allocator best-packing
