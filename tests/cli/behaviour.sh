# what people ask about fragmentation and settings, each as a case
llama=$ROOT/scenarios/llama7b.lua
small='--set hidden=256 --set intermediate=688 --set layers=2 --set heads=8'
lengths='--set batches=2,4,3,5,2,4,6,1 --set lengths=256,300,400,256,700,333,512,200'
values() { awk -f "$ROOT/tests/support/json.awk" | sed -n "s/^$1=//p" | tr '\n' ' '; echo; }

# lengths from a distribution: reserved minus allocated and the largest free block over time, and what expandable segments change
# shellcheck disable=SC2086 # several words
vramsim replay "$llama" $small $lengths --alloc expandable_segments:True --no-view --quiet --json a.json
for side in recorded model; do
    for what in own_reserved_peak_bytes unused_at_peak_bytes largest_free_at_peak_bytes; do
        echo "$side $what: $(values "devices.0.$side.steps.[0-9]*.$what" <a.json)"
    done
done
# "it failed after many iterations": the order of lengths can be given, and the step is named that first reaches the peak
# shellcheck disable=SC2086
vramsim run "$llama" $small $lengths --no-view | grep -E '^  (allocated|reserved)  .*step'
# which number decides: live, reserved, device
# shellcheck disable=SC2086
vramsim run "$llama" $small --no-view | grep -E '^  (allocated|reserved|device)  .*B'
# low in allocated, high in reserved: the difference is told as free blocks, not as tensors
# shellcheck disable=SC2086
vramsim run "$llama" $small $lengths --set lora=8 --no-view --quiet --json b.json
for what in peak.allocated_bytes peak.reserved_bytes fragmentation_at_peak.unused_bytes fragmentation_at_peak.largest_free_bytes; do
    echo "$what: $(values "$what" <b.json)"
done
# segments and blocks without a history: the state is shown, and how to record one
vramsim info "$ROOT/tests/data/traces/no_history.pickle.zst" --at end | grep -E 'recorded|records|^fragmentation|largest'
# addresses above 2^53 are exact: texts
vramsim info "$ROOT/tests/data/traces/no_history.pickle.zst" --at end --quiet --json - | grep -c '"address": "0x'
# a checkpoint around single linear layers saves nothing; around fused attention nearly nothing, around eager attention what grows
# with the square of the length
for choice in 'checkpoint_of=linears' 'checkpoint_of=core_attention' 'checkpoint_of=core_attention --set attention=eager'; do
    # shellcheck disable=SC2086
    note=$(vramsim run "$llama" $small --set seq=512 --set checkpoint=nonreentrant --set $choice --no-view | grep -oE 'checkpoints of .*')
    echo "$choice: ${note:-no note}"
done
