#!/bin/sh
# A parameter changed in the viewer gives the run of the command line with the same --set. Usage:
# parameters.sh VIEWER SCENARIO, one with integers, choices and booleans (llama7b.lua)
set -u
viewer=$1 scenario=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $1" >&2
    exit 1
}

# play COMMANDS [OPTION...]: what is shown
play() {
    printf '%b' "$1" >"$work/script"
    shift
    "$viewer" "$scenario" --script "$work/script" "$@" 2>&1 || fail "exit code $?"
}

small='--set layers=2 --set hidden=256 --set intermediate=512 --set heads=4 --set vocab=1000 --set seq=128'
figures='show peak.allocated\nshow peak.reserved\nshow peak.event\nshow events\n'
downs() { yes 'key Down' | head -n "$1" | sed 's/$/\\n/' | tr -d '\n'; }
row() { # NAME: its number among the parameters
    printf 'key Alt+P\ncsv %s\n' "$work/rows.csv" >"$work/list"
    "$viewer" "$scenario" --script "$work/list" >/dev/null 2>&1 || fail "no table of parameters"
    awk -F, -v name="$1" '$1 == name { print NR - 1 }' "$work/rows.csv"
}

# same NAME KEYS SET...: the keys on that row, and the command line
same() {
    name=$1 keys=$2
    shift 2
    there=$(row "$name")
    [ -n "$there" ] || fail "no parameter $name"
    # shellcheck disable=SC2086 # words
    changed=$(play "key Alt+P\n$(downs "$there")$keys$figures" $small)
    # shellcheck disable=SC2086
    wanted=$(play "$figures" $small "$@")
    [ "$changed" = "$wanted" ] || fail "$name: $changed; with $*: $wanted"
}

same batch 'key Right\nkey Right\n' --set batch=3
same seq 'key Ctrl+Right\n' --set seq=256
same seq 'key Left\n' --set seq=112
same dtype 'key Left\n' --set dtype=fp32
same tie_embeddings 'key Right\n' --set tie_embeddings=true
same batch 'key Ctrl+Shift+Right\nkey Ctrl+Z\nkey Right\nkey Right\nkey Ctrl+Shift+Left\n' --set batch=2
# the run as it was opened stays behind; what cannot run is taken back and told
there=$(row hidden)
# shellcheck disable=SC2086
said=$(play "show peak.allocated\nkey Alt+P\n$(downs "$there")key Ctrl+Shift+Right\nshow parameters.changed\nshow overlay.peak\nshow peak.allocated\n" $small)
echo "$said" | awk '{ v[NR] = $2 } END { exit !(v[2] == 0 && v[3] == 0 && v[4] == v[1]) }' ||
    fail "a hidden size that the heads do not divide: $said"
# shellcheck disable=SC2086
said=$(play "show peak.allocated\nkey Alt+P\n$(downs "$there")key Ctrl+Right\nshow overlay.peak\n" $small)
echo "$said" | awk '{ v[NR] = $2 } END { exit v[1] != v[2] }' || fail "the overlay is another run: $said"
# in a window too: SDL's own display that shows nothing
unset DISPLAY WAYLAND_DISPLAY
export SDL_VIDEODRIVER=dummy
small="$small --window --no-remember"
same batch 'key Right\nkey Right\nkey Ctrl+Z\n' --set batch=2
echo passed
