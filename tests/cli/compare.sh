# two runs of one program: what grew, what shrank, by phase and place; exit code 1 over the tolerance
mlp=$ROOT/scenarios/mlp.lua
unpack traces/pytorch-2.15/mlp_sgd.pickle
unpack traces/pytorch-2.15/mlp_adamw_forloop.pickle
vramsim convert mlp_sgd.pickle -o sgd.vrt
try compare mlp_sgd.pickle mlp_adamw_forloop.pickle
try compare mlp_sgd.pickle sgd.vrt
try compare "$mlp" "$mlp" --set batch=64 --set-b batch=128 --tolerance 10%
for tolerance in 200% 100MiB 1MiB; do
    try compare mlp_sgd.pickle mlp_adamw_forloop.pickle --quiet --tolerance $tolerance
done
try compare mlp_adamw_forloop.pickle mlp_sgd.pickle --quiet
vramsim compare "$mlp" mlp_sgd.pickle --set optimizer=sgd | tail -n 12
vramsim compare mlp_sgd.pickle sgd.vrt --json - | head -n 12
try compare mlp_sgd.pickle sgd.vrt --set-b batch=1
try compare "$mlp" "$mlp" --set-b batch
try compare "$mlp"
try compare mlp_sgd.pickle missing.pickle
try validate "$mlp" sgd.vrt --tolerance 1MiB
