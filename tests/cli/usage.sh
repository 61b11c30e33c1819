# exit code 2, one line on standard error
vramsim >/dev/null
echo "no arguments: exit $?"
echo "errors on standard output: $(vramsim frobnicate 2>/dev/null | wc -c) bytes"

try frobnicate
try valdate
mkdir scenarios
echo >scenarios/frobnicate.lua
try frobnicate
rm -r scenarios
try run
try run "$ROOT/scenarios/mlp.lua" extra
try run "$ROOT/scenarios/mlp.lua" --frobnicate
try run "$ROOT/scenarios/mlp.lua" --quite
try run "$ROOT/scenarios/mlp.lua" --batch 4
try run --batch=4 "$ROOT/scenarios/mlp.lua"
echo "x =" > broken.lua
try run broken.lua --batch 4
try run "$ROOT/scenarios/mlp.lua" --set btach=4
try run "$ROOT/scenarios/mlp.lua" --json
try run "$ROOT/scenarios/mlp.lua" --quiet=1
try info "$ROOT/scenarios/mlp.lua" --set a=1
try validate "$ROOT/scenarios/mlp.lua"
try validate "$ROOT/scenarios/mlp.lua" x.pickle --tolerance much
try dump nothing "$ROOT/scenarios/mlp.lua"
try run "$ROOT/scenarios/mlp.lua" --device GTX1080
try run "$ROOT/scenarios/mlp.lua" --device A4000:size=1GiB
try run "$ROOT/scenarios/mlp.lua" --framework pytorch-1.0
try run "$ROOT/scenarios/mlp.lua" --device A100
for word in 2.11 PyTorch-2.15; do
    vramsim run "$ROOT/scenarios/mlp.lua" --no-view --quiet --json - --framework $word | grep '"framework"'
done
for word in h100-80gb H100 a100-4:total=1GiB; do
    vramsim run "$ROOT/scenarios/mlp.lua" --no-view --quiet --json - --device $word | grep '"device"' -A 1
done
try run "$ROOT/scenarios/mlp.lua" --device A4000:total=1.GiB
try run "$ROOT/scenarios/mlp.lua" --lang xx
try run "$ROOT/scenarios/mlp.lua" --max-requests 18446744073709551616
try run "$ROOT/scenarios/mlp.lua" --alloc frobnicate:1
try run "$ROOT/scenarios/mlp.lua" --no-view --quiet --png x.png --size 5
try run "$ROOT/scenarios/mlp.lua" --no-view --quiet --png x.png --theme pink
VRAMSIM_VIEW=./no-viewer try run "$ROOT/scenarios/mlp.lua" --quiet --view
trace=$ROOT/tests/data/traces/pytorch-2.15/mlp_sgd.pickle.zst
for option in --alloc=backend:native --allocator=native --device=T4 --framework=2.15 --set=a=1; do
    try run "$trace" $option
    try dump requests "$trace" $option
    try view "$trace" "$trace" $option
done
try validate "$trace" "$ROOT/scenarios/mlp.lua"
try validate "$trace" "$trace"
ls
