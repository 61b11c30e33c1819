# profiles, memory timelines and samples: what they hold, what is unknown, and how near the simulated run is
for name in mlp_whole mlp_late mlp_late_2021; do
    unpack "profiles/$name.json"
done
unpack profiles/mlp.timeline.json
cp "$ROOT/tests/data/profiles/mlp.timeline.raw.json.gz" "$ROOT/tests/data/profiles/samples.csv" .
try info mlp_whole.json
try info mlp_late_2021.json
try info mlp.timeline.json
try info mlp.timeline.raw.json.gz
try info samples.csv
try run mlp_late.json --no-view
try run mlp.timeline.raw.json.gz --no-view
try run samples.csv --no-view
for packed in "$ROOT/tests/data/profiles/mlp_whole.json.zst" mlp.timeline.raw.json.gz samples.csv; do
    vramsim info - --quiet --json facts.json <"$packed"
    echo "standard input: exit $?, $(awk -f "$ROOT/tests/support/json.awk" facts.json | grep -E '^kind=')"
done
cat mlp_whole.json | vramsim info - --quiet --json - | head -c 30
echo
try validate "$ROOT/scenarios/mlp.lua" mlp_whole.json
try validate "$ROOT/scenarios/mlp.lua" mlp_late.json --set steps=4
try validate "$ROOT/scenarios/mlp.lua" mlp_late_2021.json --set steps=4
try validate "$ROOT/scenarios/mlp.lua" mlp.timeline.json
try validate "$ROOT/scenarios/mlp.lua" mlp.timeline.raw.json.gz
try validate "$ROOT/scenarios/mlp.lua" samples.csv --tolerance 1%
try replay mlp_whole.json
for file in mlp_late_2021.json mlp.timeline.json samples.csv; do
    vramsim validate "$ROOT/scenarios/mlp.lua" "$file" --quiet --json v.json
    echo "$file: exit $?"
    awk -f "$ROOT/tests/support/json.awk" v.json | grep -E '^(level|equal|compared|peak|curve)'
    vramsim run "$file" --no-view --quiet --json r.json --png p.png --csv r.csv
    awk -f "$ROOT/tests/support/json.awk" r.json | grep -E '^peak.*bytes'
done
# what such a timeline can be written as
for ending in vrt perfetto csv pickle; do
    try convert mlp_late.json -o "late.$ending"
done
vramsim validate "$ROOT/scenarios/mlp.lua" late.vrt --set steps=4 | head -n 3
head -n 4 late.csv | cut -d, -f 1-8,16-
# a state of JAX, which has no history
cp "$ROOT/tests/data/profiles/jax.prof" .
try info jax.prof
try validate "$ROOT/scenarios/mlp.lua" jax.prof
# two of them beside each other
vramsim compare mlp_whole.json mlp_late.json --tolerance 10MiB | head -n 10
vramsim compare samples.csv samples.csv | head -n 9
vramsim compare mlp_whole.json samples.csv --quiet --json c.json
echo "exit $?"
awk -f "$ROOT/tests/support/json.awk" c.json | grep -E 'peak_'
