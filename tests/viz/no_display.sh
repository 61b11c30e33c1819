#!/bin/sh
# Without a display: one line on stderr, exit code 4. Usage: no_display.sh VIEWER FILE
set -u
unset DISPLAY WAYLAND_DISPLAY SDL_VIDEODRIVER XDG_RUNTIME_DIR
said=$("$@" 2>&1)
code=$?
[ $code -eq 4 ] || { echo "exit code $code, expected 4: $said" >&2; exit 1; }
missing=$("$1" /nowhere/x.pickle 2>&1)
code=$?
[ "$code $missing" = "3 vramsim-view: /nowhere/x.pickle: No such file or directory" ] || { echo "a file that is not there: $code $missing" >&2; exit 1; }
[ "$(echo "$said" | wc -l)" -eq 1 ] || { echo "more than a line: $said" >&2; exit 1; }
