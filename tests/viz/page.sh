#!/bin/sh
# page.sh VRAMSIM ROOT WHAT: pages of render. WHAT is `model` (the page's script in Node.js against the report) or `browser`
# (Chromium without a window: figures read out of the page against the report, keys, hostile names, no network).
# 77: there is no such program here.
set -u
vramsim=$1 root=$2 what=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAILED: $*"; failed=1; }
unset VRAMSIM_FONT VRAMSIM_SCALE

json() { awk -f "$root/tests/support/json.awk" "$1" | sed -n "s/^$2=//p"; }

if [ "$what" = model ]; then
    command -v node >/dev/null 2>&1 || { echo "SKIPPED: no node: the page's script is not checked"; exit 77; }
    model() { # NAME ARGUMENT...: the page and the report's rows of one run
        name=$1
        shift
        "$vramsim" render "$@" -o "$name.html" && "$vramsim" run "$@" --quiet --no-view --csv "$name.csv"
        [ -e "$name.csv" ] || { fail "$name: nothing written"; return; }
        node "$root/tests/viz/page_model.js" "$name.html" "$name.csv" || fail "$name"
    }
    model small "$root/scenarios/mlp.lua"
    model oom "$root/scenarios/small_gpt.lua" --set layers=4 --device RTX4090:total=800MiB,context=300MiB
    model reduced "$root/scenarios/mlp.lua" --set steps=1500
    [ "$(wc -c <reduced.html)" -lt 6000000 ] || fail "a page of $(wc -c <reduced.html) bytes"
    model gpt "$root/scenarios/small_gpt.lua" --set layers=2
    "$vramsim" render "$root/scenarios/mlp.lua" "$root/tests/data/traces/pytorch-2.15/mlp_sgd.pickle.zst" -o two.html
    node "$root/tests/viz/page_model.js" two.html small.csv || fail "two files"
    exit $failed
fi

browser=
for name in chromium chromium-browser google-chrome; do
    command -v $name >/dev/null 2>&1 && { browser=$name; break; }
done
[ -n "$browser" ] || { echo "SKIPPED: no chromium: no page was opened in a browser"; exit 77; }
unset DISPLAY WAYLAND_DISPLAY
# The page as it stands after its script ran. Names resolve to nothing: what would be fetched is an error in the log.
open_page() { # FILE[#STATE]
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --window-size=1200,800 \
        --host-resolver-rules="MAP * ~NOTFOUND" --virtual-time-budget=4000 --dump-dom "file://$work/$1" >dom 2>browser.log
    [ -s dom ] || { fail "$1: no page came back"; cat browser.log; }
}
# data-bytes of an element by its id
figure() { tr '>' '\n' <dom | sed -n "s/.* id=\"$1\".*data-bytes=\"\([0-9-]*\)\".*/\1/p" | head -n 1; }
expect() { # WHAT FOUND EXPECTED; an expectation that could not be read is a failure too
    [ -n "$3" ] && [ "$2" = "$3" ] || fail "$1 is '$2', expected '$3'"
}

mlp=$root/scenarios/mlp.lua
"$vramsim" render "$mlp" -o mlp.html
"$vramsim" run "$mlp" --quiet --no-view --json report.json
open_page mlp.html
expect 'peak allocated' "$(figure peak-bytes)" "$(json report.json peak.allocated_bytes)"
expect 'peak reserved' "$(figure peak-reserved-bytes)" "$(json report.json peak.reserved_bytes)"
expect 'the sum of the owners at the peak' "$(figure owners-sum)" "$(json report.json peak.allocated_bytes)"

for at in 'step 2 backward' 'event 100' start; do
    "$vramsim" render "$mlp" --at "$at" --state 'group=op' -o at.html -o at.json
    open_page at.html
    expect "owners at $at" "$(figure owners-sum)" "$(json at.json total_bytes)"
    expect "bytes at $at" "$(figure cursor-bytes)" "$(json at.json moment.allocated_bytes)"
done

# the state of the address, and the one that the page writes
"$vramsim" render "$mlp" --state 'axis=events;group=op;at=event 166;view=100..200' -o hash.json
open_page 'mlp.html#axis=events;bands=size;group=op;at=event%20166;view=100..200'
expect 'owners by the address' "$(figure owners-sum)" "$(json hash.json total_bytes)"
grep -q 'data-state="axis=events;bands=size;group=op;at=event 166;view=100..200"' dom || fail "state: $(grep -o 'data-state="[^"]*"' dom)"

# keys and the wheel: a copy of the page with a script that presses them
press() { # SCRIPT: what is done after the page's own script
    sed "s|^</body>|<script>\"use strict\"; { const press = (key, mods) => document.dispatchEvent(new KeyboardEvent(\"keydown\", Object.assign({ key, bubbles: true }, mods))); $1 }</script></body>|" mlp.html >pressed.html
    open_page pressed.html
}
press 'press("End"); press("n"); press("p"); press("."); press(".");'
"$vramsim" render "$mlp" --at peak -o peak.json
"$vramsim" render "$mlp" --at "event $(($(json peak.json moment.event) + 2))" -o next.json
expect 'two events after the peak' "$(figure cursor-bytes)" "$(json next.json moment.allocated_bytes)"
press 'press("x"); press("w"); press("w"); press("d"); press("0"); press("c"); press("2"); press("t"); press("y"); press("["); press("]"); press("Escape");'
expect 'owners after many keys' "$(figure owners-sum)" "$(figure cursor-bytes)"
press 'press("?", { shiftKey: true });'
grep -q 'local peak' dom || fail 'the page of keys lists nothing'
press 'const t = document.getElementById("timeline"); t.dispatchEvent(new WheelEvent("wheel", { deltaY: -300, clientX: 500, clientY: 300, bubbles: true, cancelable: true })); t.dispatchEvent(new PointerEvent("pointermove", { clientX: 500, clientY: 300, bubbles: true }));'
grep -q 'view=' dom || fail 'the wheel did not zoom'
grep -q 'id="tip"[^>]*data-bytes="[1-9]' dom || fail 'no figure at the pointer'

# two files: the difference; out of memory; Chinese; nothing at all
"$vramsim" render "$mlp" "$mlp" -o same.html
open_page same.html
expect 'the difference to itself' "$(figure difference-bytes)" 0
"$vramsim" render "$root/scenarios/small_gpt.lua" --set layers=4 --device RTX4090:total=800MiB,context=300MiB --lang zh --theme light -o oom.html
open_page oom.html
grep -q '峰值' dom || fail 'no Chinese'
expect 'owners where memory ran out' "$(figure owners-sum)" "$(figure cursor-bytes)"
[ -n "$(figure peak-bytes)" ] || fail 'no page where memory ran out'

# names that would run a script: of the file, of a phase, of a module, of a tensor
hostile='</script><img src=x onerror=document.title="hit"><script>document.title="hit"</script>'
cat >'x"><img src=x onerror=document.title=1>.lua' <<LUA
phase('$hostile')
local x = torch.zeros({ 1024 }, "fp32"):as("input", '<b onmouseover=alert(1)>"&amp;')
local y = torch.zeros({ 4096 }, "fp32")
phase("<!--<script>")
LUA
"$vramsim" render 'x"><img src=x onerror=document.title=1>.lua' -o hostile.html -o hostile.json || fail 'the hostile scenario does not run'
open_page hostile.html
expect 'the peak under hostile names' "$(figure peak-bytes)" "$(json hostile.json peak_allocated_bytes)"
expect 'the owners under hostile names' "$(figure owners-sum)" "$(json hostile.json total_bytes)"
grep -qi '<img\|title>hit\|<b onmouse' dom && fail 'a name became markup'
expect 'scripts of the page' "$(grep -c '<script' hostile.html)" 2

# no address of a network in any of it
grep -n 'https\?://' mlp.html && fail 'the page names an address'
[ $failed -eq 0 ] && echo "all pages as expected ($browser)"
exit $failed
