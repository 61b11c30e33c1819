#!/bin/sh
# A real window under Xvfb: it opens, `p` moves to the peak, a drag scrubs, Ctrl+Q quits.
# Usage: xvfb.sh VIEWER [ARGUMENT...]. The window's title tells where the cursor is. Exit 77: skipped.
set -u

[ -n "${XVFB_SCREEN:-}" ] || exec "$(dirname "$0")/with_xvfb.sh" "$0" "$@"
unset SDL_VIDEODRIVER # the viewer finds the display by itself

work=$(mktemp -d) || exit 1
viewer=
cleanup() {
    [ -n "$viewer" ] && kill "$viewer" 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

fail() {
    echo "FAILED: $1" >&2
    [ -s "$work/viewer.log" ] && cat "$work/viewer.log" >&2
    exit 1
}

# Runs "$@" until it succeeds, 20 seconds at most.
until_good() {
    tries=200
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.1
    done
}

"$@" >"$work/viewer.log" 2>&1 &
viewer=$!

window=
find_window() {
    kill -0 "$viewer" 2>/dev/null || fail "the viewer has ended"
    window=$(xdotool search --onlyvisible --pid "$viewer" --name '^vramsim:' 2>/dev/null | head -n 1)
    [ -n "$window" ]
}
title() { xdotool getwindowname "$window"; }
title_is_not() { [ "$(title)" != "$1" ]; }
screen() { cksum <"$XVFB_SCREEN"; }
screen_is_not() { [ "$(screen)" != "$1" ]; }

empty=$(screen)
until_good find_window || fail "no window"
until_good screen_is_not "$empty" || fail "the window stays empty"
is_read() { title | grep -q ' of [1-9][0-9]* events, '; }
until_good is_read || fail "nothing is read: $(title)"
xdotool windowfocus --sync "$window" 2>/dev/null
start=$(title)
before=$(screen)

xdotool key --window "$window" p
until_good title_is_not "$start" || fail "p does not move the cursor: $(title)"
peak=$(title)
until_good screen_is_not "$before" || fail "p does not redraw"
echo "start: $start"
echo "peak:  $peak"

# every place that the cursor is dragged over holds less, or as much
bytes_of() { echo "$1" | sed 's/.* \([0-9]*\) bytes$/\1/'; }
eval "$(xdotool getwindowgeometry --shell "$window")" # X Y WIDTH HEIGHT
y=$((Y + HEIGHT / 2))
xdotool mousemove $((X + WIDTH / 8)) $y mousedown 1
last=$peak
for step in 2 3 4 5; do
    xdotool mousemove $((X + WIDTH * step / 9)) $y
    until_good title_is_not "$last" || fail "the drag does not scrub at step $step: $last"
    last=$(title)
    echo "drag:  $last"
    [ "$(bytes_of "$last")" -le "$(bytes_of "$peak")" ] || fail "more than the peak: $last"
done
xdotool mouseup 1

xdotool key --window "$window" p
until_good title_is_not "$last" || fail "p does not move back: $(title)"
[ "$(title)" = "$peak" ] || fail "p leads elsewhere: $(title)"

xdotool key --window "$window" ctrl+q 2>/dev/null # the window may be gone before the key is up
gone() { ! kill -0 "$viewer" 2>/dev/null; }
until_good gone || fail "Ctrl+Q does not quit"
wait "$viewer"
code=$?
viewer=
[ $code -eq 0 ] || fail "exit code $code"
echo "passed"
