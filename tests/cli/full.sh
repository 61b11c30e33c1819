# what does not fit on standard output is exit code 4 as well
mlp=$ROOT/scenarios/mlp.lua
trace=$ROOT/tests/data/traces/pytorch-2.15/mlp_sgd.pickle.zst
full() {
    echo "$ $*"
    { vramsim "$@" >/dev/full; } 2>&1
    echo "exit $?"
}
full run "$mlp" --no-view
full run "$mlp" --help-scenario
full run --help
full --help
full --version
full dump tape "$mlp"
full info "$trace"
full info "$trace" --json -
full replay "$trace"
full replay "$trace" --all
full validate "$mlp" "$trace"
for table in devices frameworks allocators ops; do
    full $table
done
