# names that a terminal would obey, in messages and reports; outputs that would replace what is read; a limit of files' sizes
escape=$(printf '\033')
# shellcheck disable=SC2089
evil="a${escape}[31m\"<b>.json"
unpack profiles/mlp_late.json
cp mlp_late.json "$evil"
for command in "info $evil" "compare $evil $evil --quiet" "compare $evil $evil" "convert $evil -o x.foo" "convert $evil -o ${evil}.csv" \
    "info missing$evil" "info --option$evil" "$evil$evil" "word$escape" "run $evil --set $escape" "render $evil -o x.png --state $escape"; do
    # shellcheck disable=SC2086,SC2090 # words of a command
    vramsim $command >out 2>&1
    echo "exit $?, escapes: $(grep -c "$escape" out)"
done
vramsim "word$escape" 2>&1
# texts of the file itself
sed "s/aten::[a-z_]*/\\\\u001b[31m/g" mlp_late.json >texts.json
for command in info "run --no-view --svg x.svg --html x.html --csv x.csv" replay "dump timeline" "convert -o y.csv" "compare mlp_late.json"; do
    vramsim $command texts.json >out 2>&1
    echo "$command: escapes: $(cat out x.* y.* 2>/dev/null | grep -c "$escape")"
done
printf 'timestamp, index, name, memory.used [MiB], memory.total [MiB]\n2024/05/01 12:00:00.1, 0, A, 5 MiB, 9 MiB\n' >samples.csv
sed "s/A, 5 MiB/$escape, 5$escape MiB/" samples.csv | cat samples.csv - >odd.csv
vramsim info odd.csv >out
echo "exit $?, escapes: $(grep -c "$escape" out)"
# what is read is not replaced, nor one output by another; a device may take all
cp samples.csv kept.csv
cp samples.csv plain
ln -s samples.csv link.csv
for command in "convert plain -o plain --format csv" "convert samples.csv -o samples.csv" "convert samples.csv -o link.csv" \
    "render samples.csv -o ./samples.csv" "run samples.csv --no-view --quiet --csv samples.csv" "info plain --json plain" "compare plain samples.csv --json plain" \
    "run samples.csv --no-view --quiet --json x --csv x" "render samples.csv -o x.png -o x.png"; do
    try $command
done
vramsim run samples.csv --no-view --quiet --json /dev/null --csv /dev/null
echo "exit $?"
cmp samples.csv kept.csv
# a limit of files' sizes: the write fails, nothing is left half-written
rm -f x.* y.* out
(
    ulimit -f 4
    for kind in vrt json csv perfetto; do
        vramsim convert mlp_late.json -o big.$kind 2>&1 | grep -v 'does not hold'
    done
    for kind in png svg html; do try render mlp_late.json -o big.$kind; done
    try run mlp_late.json --no-view --quiet --json big.json
) | cat
find . -name '*big*' | grep . || echo 'nothing is left'
