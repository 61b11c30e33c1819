#!/bin/sh
# check_torch.sh VRAMSIM ROOT: a program under vramsim.py with the real PyTorch gives a recording that is equal to its
# simulation, step by step; one that runs out of memory leaves a file of that moment.
# VRAMSIM_TORCH_PYTHON names a Python with PyTorch 2.15, VRAMSIM_NULL_DEVICE a folder with libnullgpu.so, which stands in for
# a GPU where there is none. Without them: skipped.
set -u
vramsim=$1 root=$2
if [ -z "${VRAMSIM_TORCH_PYTHON:-}" ]; then
    echo "SKIPPED: VRAMSIM_TORCH_PYTHON names no Python with PyTorch"
    exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
record() {
    (
        export PYTHONPATH="$root/trace/python" PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 NULLGPU_CONTEXT_MIB=500
        if [ -n "${VRAMSIM_NULL_DEVICE:-}" ]; then
            export LD_LIBRARY_PATH="$VRAMSIM_NULL_DEVICE" LD_PRELOAD="$VRAMSIM_NULL_DEVICE/libnullgpu.so"
        fi
        exec "$VRAMSIM_TORCH_PYTHON" "$root/tests/python/program.py" "$@"
    )
}
record "$work/x.pickle" || exit 1
"$vramsim" validate "$root/scenarios/mlp.lua" "$work/x.pickle" >"$work/report" || { cat "$work/report"; exit 1; }
grep -q '^steps: 3 real, 3 simulated' "$work/report" || { cat "$work/report"; exit 1; }
record "$work/y.pickle" oom 2>"$work/told" && exit 1
grep -q 'vramsim: out of memory: a request of' "$work/told" || { cat "$work/told"; exit 1; }
"$vramsim" info "$work/y.oom.pickle" | grep -q 'oom 1' || exit 1
"$vramsim" info "$work/y.pickle" | grep -q 'oom 1' || exit 1
echo ok
