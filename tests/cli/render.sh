# the viewer's picture and table without a window: kinds by the name's end, moments by name, the state line
mlp=$ROOT/scenarios/mlp.lua trace=$ROOT/tests/data/traces/pytorch-2.15/mlp_sgd.pickle.zst
kind() { od -A n -t x1 -N 8 "$1" | tr -d ' '; }
try render "$mlp" --at 'step 2 backward' --size 640x400 --scale 1.5 --theme light --lang en -o a.png -o a.svg -o a.csv -o a.json
kind a.png
head -c 60 a.svg
echo
cat a.csv
sed -n '2,$p' a.json | sed 's|".*/|".../|'
for at in peak reserved start end 'event 100' 'time 300us' 'step 2 optimizer peak'; do
    vramsim render "$mlp" --at "$at" --state 'group=category' -o b.json
    awk -v at="$at" '/"event":|"allocated|"total_bytes/ { gsub(/[ ,]/, ""); line = line " " $0 } END { print at ":" line }' b.json
done
# a trace, and a scenario over it
try render "$trace" "$mlp" --set batch=64 --at divergence -o d.json
grep other d.json | sed 's|".*/|".../|'
# the table is that of the report: the same bytes at the peak
vramsim run "$mlp" --quiet --no-view --json run.json
vramsim render "$mlp" --at peak -o peak.json
grep -h '"allocated_bytes": [0-9]*,$\|peak_allocated' run.json peak.json | sort -u | head -n 3
# pictures of run take the same options
vramsim run "$mlp" --quiet --no-view --png run.png --at 'step 2 backward' --size 640x400 --font embedded --state 'axis=events'
vramsim render "$mlp" -o render.png --at 'step 2 backward' --size 640x400 --font embedded --state 'axis=events'
cmp run.png render.png && echo 'the same picture'
printf '# mine\nparameter = 123456 hatch\n' >mine
printf 'parameters = 123456\n' >wrong
vramsim render "$mlp" --palette mine -o mine.svg -o mine.html
grep -c 123456 mine.html
grep -q '#123456' mine.svg && echo 'in the picture and in the page'
try render "$mlp" --palette wrong -o p.png
try render "$mlp" --palette missing -o p.png
try render "$mlp"
try render "$mlp" -o picture.gif
try render "$mlp" -o p.png --at nowhere
try render "$mlp" -o p.png --at oom
try render "$mlp" -o p.png --state 'colour=red'
try render "$mlp" -o p.png --scale 9
try render "$mlp" -o missing/p.png
ls
