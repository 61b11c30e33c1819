# likewise of two profiles of real trainings that are too large for the repository
. "$ROOT/tests/support/facts.sh"
more=${VRAMSIM_TRACES:-$ROOT/../shared/traces}
for name in profiler_memory_events profiler_resnet50_old_form; do
    if [ ! -e "$more/$name.json.gz" ]; then
        echo "the larger profiles are not at hand" >&2
        exit 77
    fi
    compare_facts "$more/$name.json.gz"
done
