# a paged key/value cache: blocks by what is left of the card, a shared prefix, preemption both ways, too little memory
serve() {
    echo "\$ $*"
    for word; do
        set -- "$@" --set "$word"
        shift
    done
    vramsim run "$ROOT/scenarios/llama7b.lua" --no-view --device A100-80GB:total=1000MiB,context=400MiB --set mode=generate \
        --set cache=paged --set hidden=256 --set intermediate=688 --set layers=2 --set heads=8 --set batch=40 \
        --set prompt=200 --set new_tokens=60 "$@" >out 2>&1
    echo "exit $?"
    grep -E '^  (FITS|note)|^vramsim' out
}
serve gpu_memory_utilization=0.9
serve gpu_memory_utilization=0.493
serve gpu_memory_utilization=0.493 preemption=swap
serve gpu_memory_utilization=0.493 shared_prefix=170
serve gpu_memory_utilization=0.9 shared_prefix=170 arrive_every=3 max_batched_tokens=512
serve gpu_memory_utilization=0.4
serve lora=4
