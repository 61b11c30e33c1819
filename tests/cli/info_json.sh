# the facts of every snapshot, by the keys of expected.json, which were computed independently
awk -f "$ROOT/tests/support/json.awk" "$ROOT/tests/data/traces/expected.json" | sort >expected
for packed in "$ROOT"/tests/data/traces/*.pickle.zst; do
    name=$(basename "$packed" .zst)
    unpack "traces/$name"
    vramsim info "$name" --quiet --json facts.json || echo "exit $?"
    grep -F "$name." expected | sed "s/^$name\.//" >want
    awk -f "$ROOT/tests/support/json.awk" facts.json | sort >got
    # the importer's JSON has no key for what only the independent replay counts
    comm -23 want got | grep -vE 'replay\.(addr_ok|cache_hits|layout_equal|segments_ok)=' >missing
    echo "$name: $(($(wc -l <want) - $(wc -l <missing))) of $(wc -l <want) facts, not found:"
    sed 's/^/  /' missing
done
