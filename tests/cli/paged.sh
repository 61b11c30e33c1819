# a paged key/value cache: blocks by what is left of the card, a shared prefix, preemption both ways, too little memory
serve() {
    echo "\$ $*"
    for word; do
        set -- "$@" --set "$word"
        shift
    done
    vramsim run "$ROOT/scenarios/llama7b.lua" --no-view --device A100-80GB:total=1000MiB,context=400MiB --set mode=generate \
        --set cache=paged --set hidden=256 --set intermediate=688 --set layers=2 --set heads=8 --set batch=100 \
        --set prompt=300 --set new_tokens=200 "$@" >out 2>&1
    echo "exit $?"
    grep -E '^  (FITS|note)|steps,|^vramsim' out
}
serve gpu_memory_utilization=0.9
serve gpu_memory_utilization=0.5
serve gpu_memory_utilization=0.5 preemption=swap
serve gpu_memory_utilization=0.5 shared_prefix=250
serve gpu_memory_utilization=0.9 shared_prefix=250 arrive_every=3 max_batched_tokens=512
serve gpu_memory_utilization=0.4
serve lora=4
