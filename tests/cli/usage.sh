# exit code 2, one line on standard error
vramsim >/dev/null
echo "no arguments: exit $?"
echo "errors on standard output: $(vramsim frobnicate 2>/dev/null | wc -c) bytes"

try frobnicate
try run
try run "$ROOT/scenarios/mlp.lua" extra
try run "$ROOT/scenarios/mlp.lua" --frobnicate
try run "$ROOT/scenarios/mlp.lua" --json
try run "$ROOT/scenarios/mlp.lua" --quiet=1
try info "$ROOT/scenarios/mlp.lua" --set a=1
try validate "$ROOT/scenarios/mlp.lua"
try validate "$ROOT/scenarios/mlp.lua" x.pickle --tolerance much
try dump nothing "$ROOT/scenarios/mlp.lua"
try run "$ROOT/scenarios/mlp.lua" --device GTX1080
try run "$ROOT/scenarios/mlp.lua" --device A4000:size=1GiB
try run "$ROOT/scenarios/mlp.lua" --framework pytorch-1.0
try run "$ROOT/scenarios/mlp.lua" --alloc frobnicate:1
try run "$ROOT/scenarios/mlp.lua" --no-view --quiet --png x.png --size 5
try run "$ROOT/scenarios/mlp.lua" --no-view --quiet --png x.png --theme pink
ls
