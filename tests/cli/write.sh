# exit code 4, nothing half-written
mlp=$ROOT/scenarios/mlp.lua
mkdir folder
echo old >kept.json
for option in json csv png svg; do
    try run "$mlp" --quiet --no-view --$option folder
    try run "$mlp" --quiet --no-view --$option missing/x.$option
    try run "$mlp" --quiet --no-view --$option /dev/full
done
try validate "$mlp" "$ROOT/tests/data/traces/pytorch-2.15/mlp_sgd.pickle.zst" --quiet --json missing/v.json
try info "$ROOT/tests/data/traces/pytorch-2.15/mlp_sgd.pickle.zst" --quiet --json /dev/full
try run "$mlp" --set batch=0 --quiet --no-view --json kept.json
cat kept.json
ls -R
