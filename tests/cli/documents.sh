# commands in documents print what the documents say: each line below "$ ./vramsim ..." of a console block, in this order; where
# lines are left out stands "..."
cd "$ROOT" || exit 1
awk '/^```console/ { on = 1; next } /^```/ { if (on) print "$"; on = 0 } on' README.md docs/*.md >"$OLDPWD/blocks"
cd - >/dev/null || exit 1
left_out() { # FROM TO: lines between the two that say something
    awk -v from="$1" -v to="$2" 'NR > from && NR < to && NF { n++ } END { exit !n }' got
}
commands=0 at=0 may_skip=1
: >got
while IFS= read -r line; do
    case $line in
    '$'*)
        [ "$may_skip" ] || ! left_out "$at" 1000000 || printf 'not said to be left out: what follows line %s of\n%s\n' "$at" "$command"
        may_skip=1
        [ "$line" != '$' ] || continue
        commands=$((commands + 1)) command=$line at=0 may_skip=
        # shellcheck disable=SC2086 # the words of the command
        (cd "$ROOT" && vramsim ${line#* * } </dev/null) >got 2>&1
        continue
        ;;
    ...)
        may_skip=1
        continue
        ;;
    esac
    next=$(awk -v at="$at" -v want="$line" 'NR > at && $0 == want { print NR; exit }' got)
    [ -n "$next" ] || printf 'a document says, the program does not: %s\n' "$line"
    [ "$may_skip" ] || ! left_out "$at" "${next:-$at}" || printf 'not said to be left out: what is before %s\n' "$line"
    at=${next:-$at} may_skip=
done <blocks
echo "$commands commands"
