# the facts of a memory timeline of a real training, which were computed independently (expected.json)
. "$ROOT/tests/support/facts.sh"
compare_facts "$ROOT/tests/data/traces/memory_timeline_raw.json.gz"
