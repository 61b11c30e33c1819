# a model that does not fit: what stays in host memory, and what that does to the latency
simulate() {
    echo "\$ $1"
    "$VRAMSIM" run "$ROOT/scenarios/llama7b_swap.lua" --no-view --set new_tokens=4 --device "$1" >out 2>&1
    echo "exit $?"
    grep -E '^  (FITS|note)' out
}
simulate A4000
simulate A4000:total=4GiB
simulate A4000:total=4GiB,link=25GB
simulate A4000:total=4GiB,ram=10GB
