# the scenario of README.md runs and prints what README.md says
awk '/^```lua/ { on = 1; next } /^```/ { on = 0 } on' "$ROOT/README.md" >readme.lua
awk '/^```text/ { on = 1; next } /^```/ { on = 0 } on' "$ROOT/README.md" >want
vramsim readme.lua --no-view --device RTX4090 >got
echo "exit $?, $(wc -l <want) lines"
while IFS= read -r line; do
    grep -qxF -- "$line" got || printf 'README.md says, the program does not: %s\n' "$line"
done <want
