# an export of Nsight Systems: what the driver gave, and how near the simulated run is (made from mlp_whole.json)
command -v sqlite3 >/dev/null || { echo "no sqlite3" >&2; exit 77; }
sqlite3 mlp.sqlite <"$ROOT/tests/data/profiles/nsight.sql"
try info mlp.sqlite
try run mlp.sqlite --no-view
try validate "$ROOT/scenarios/mlp.lua" mlp.sqlite
vramsim run mlp.sqlite --no-view --quiet --png p.png --json r.json
awk -f "$ROOT/tests/support/json.awk" r.json | grep -E '^(peak|device|steps.0).*(bytes|device)'
sqlite3 other.sqlite 'create table t(a)'
try info other.sqlite
