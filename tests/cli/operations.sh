# each operation, PyTorch's and Liger-Kernel's: the peak of a call in MiB, small
peak() {
    vramsim run "$ROOT/scenarios/operations.lua" --device A100-80GB --framework 2.11 --no-view --quiet --json - "$@" |
        awk -f "$ROOT/tests/support/json.awk" | awk -F= '/own_peak_bytes/ { last = $2 } END { printf " %d", last }'
}
for op in cross_entropy fused_linear_cross_entropy swiglu geglu rms_norm layer_norm rope; do
    printf '%s' "$op"
    for impl in torch liger; do
        peak --set op=$op --set impl=$impl --set rows=2048 --set hidden=1024 --set intermediate=2816 --set vocab=8000
    done
    echo
done
