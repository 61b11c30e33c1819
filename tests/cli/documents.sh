# commands in documents print what the documents say: each line below "$ ./vramsim ..." of a console block, in this order
cd "$ROOT" || exit 1
awk '/^```console/ { on = 1; next } /^```/ { on = 0 } on' README.md docs/*.md >"$OLDPWD/blocks"
cd - >/dev/null || exit 1
commands=0
while IFS= read -r line; do
    case $line in
    '$ ./vramsim '*)
        commands=$((commands + 1))
        # shellcheck disable=SC2086 # the words of the command
        (cd "$ROOT" && vramsim ${line#* * } </dev/null) >got 2>&1
        at=0
        continue
        ;;
    esac
    next=$(awk -v at="$at" -v want="$line" 'NR > at && $0 == want { print NR; exit }' got)
    [ -n "$next" ] || printf 'a document says, the program does not: %s\n' "$line"
    at=${next:-$at}
done <blocks
echo "$commands commands"
