# several traces are the ranks of one run: a table, and those that are odd
for rank in 0 2 3 10; do cp "$ROOT/tests/data/profiles/mlp_whole.json.zst" "rank$rank.json.zst"; done
cp "$ROOT/tests/data/profiles/mlp_late.json.zst" rank_1.json.zst
try info rank*.json.zst
vramsim info rank0.json.zst rank_1.json.zst rank2.json.zst --quiet --json r.json
awk -f "$ROOT/tests/support/json.awk" r.json
cp rank0.json.zst a.json.zst
try info a.json.zst rank2.json.zst
cp "$ROOT/tests/data/profiles/samples.csv" gpu7.csv
cp "$ROOT/tests/data/profiles/mlp.timeline.raw.json.gz" gpu8.json.gz
try info gpu*
try info rank0.json.zst missing.pickle
try info rank0.json.zst "$ROOT/scenarios/mlp.lua"
