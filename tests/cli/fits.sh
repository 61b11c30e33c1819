# 0 fits, 1 does not
mlp=$ROOT/scenarios/mlp.lua
vramsim run "$mlp" --quiet --no-view --device A4000
echo "exit $?"
vramsim run "$mlp" --quiet --no-view --device A4000:total=530MiB,context=500MiB
echo "exit $?"
vramsim "$mlp" --no-view --quiet --json - | awk -f "$ROOT/tests/support/json.awk" | grep -E '^(fits|peak.phase|steps.*peak_bytes|oom)='
