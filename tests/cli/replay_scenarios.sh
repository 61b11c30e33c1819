# every scenario that is shipped makes a timeline that holds together, and the allocator's model reproduces it
bad=0 count=0
for scenario in "$ROOT"/scenarios/*.lua; do
    count=$((count + 1))
    vramsim replay "$scenario" --quiet --no-view || { bad=$((bad + 1)); echo "$scenario"; }
done
[ $count -gt 10 ] && echo "$bad differ"
