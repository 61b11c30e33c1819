# facts.sh: compare_facts FILE: what `vramsim info` says of it against expected.json, key by key. Sourced by cases of tests/cli.
compare_facts() {
    name=$(basename "$1")
    vramsim info "$1" --quiet --json facts.json || echo "exit $?"
    awk -f "$ROOT/tests/support/json.awk" "$ROOT/tests/data/traces/expected.json" | grep -F "$name." |
        sed "s/^$name\.//" | sort >want
    awk -f "$ROOT/tests/support/json.awk" facts.json | sort >got
    comm -23 want got >missing
    echo "$name: $(($(wc -l <want) - $(wc -l <missing))) of $(wc -l <want) facts, not found:"
    sed 's/^/  /' missing
}
