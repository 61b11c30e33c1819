trace=$ROOT/tests/data/traces/pytorch-2.15/mlp_sgd.pickle.zst
device="A4000:total=16101MiB,context=500MiB"
try validate "$ROOT/scenarios/mlp.lua" "$trace" --device "$device" --set optimizer=sgd
try validate "$ROOT/scenarios/mlp.lua" "$trace" --device "$device" --set optimizer=momentum
vramsim validate "$ROOT/scenarios/mlp.lua" "$trace" --device "$device" --set optimizer=momentum --tolerance 50% --quiet
echo "within 50 %: exit $?"
vramsim validate "$ROOT/scenarios/mlp.lua" "$trace" --device "$device" --set optimizer=adamw --tolerance 1% --quiet
echo "within 1 %: exit $?"
vramsim validate "$ROOT/scenarios/mlp.lua" "$trace" --device "$device" --set optimizer=momentum --quiet --json v.json
awk -f "$ROOT/tests/support/json.awk" v.json | grep -vE '\.(previous|stack)\.|^steps'
