#!/bin/sh
# Runs a command with a display of its own (1280 x 800, no window manager). Usage: with_xvfb.sh COMMAND [ARGUMENT...]
# XVFB_SCREEN names the file that holds the screen (X window dump). Exit 77: skipped, else the command's code.
set -u

for tool in Xvfb xdotool; do
    if ! command -v $tool >/dev/null 2>&1; then
        echo "SKIPPED: $tool is not installed: no real window was tested" >&2
        exit 77
    fi
done

work=$(mktemp -d) || exit 1
server=
cleanup() {
    [ -n "$server" ] && kill "$server" 2>/dev/null && wait "$server" 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

# -noreset: a server that resets when xdotool leaves would drop a window that is just opening
Xvfb -noreset -displayfd 3 -screen 0 1280x800x24 -nolisten tcp -fbdir "$work" 3>"$work/display" 2>"$work/server.log" &
server=$!
tries=200
until [ -s "$work/display" ]; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || { echo "Xvfb does not start" >&2; cat "$work/server.log" >&2; exit 1; }
    sleep 0.1
done
DISPLAY=:$(cat "$work/display")
XVFB_SCREEN=$work/Xvfb_screen0
SDL_VIDEODRIVER=x11
export DISPLAY XVFB_SCREEN SDL_VIDEODRIVER
unset WAYLAND_DISPLAY
"$@"
