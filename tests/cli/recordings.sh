# tests/fidelity/run: which recordings are used, and the exit code when none was compared
export VRAMSIM_TRACES=/none
for arguments in --help --nonsense 'pytorch-2.15/mlp_sgd' 'pytorch-2.15/llama_tiny_autocast_bf16' 'nothing'; do
    echo "\$ tests/fidelity/run $arguments"
    "$ROOT/tests/fidelity/run" "$arguments" 2>&1
    echo "exit $?"
done
