#!/bin/sh
# run_case.sh CASE.sh: runs one case in an empty folder and compares its output and exit code with the goldens beside it,
# CASE.stdout.exact, CASE.stderr.exact (none: nothing may be printed) and CASE.exit (none: 0).
# The environment names the program (VRAMSIM) and the checkout (ROOT). `tests/cli/rewrite` writes the goldens anew.
#
# A case is a shell script. It may use:
#   vramsim ARGUMENT...   the program
#   try ARGUMENT...       prints the call, both of its outputs and its exit code
#   unpack NAME           tests/data/NAME.zst into the current folder
set -u
case=$1
name=${case%.sh}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/in"

cat >"$work/lib.sh" <<'LIB'
vramsim() { "$VRAMSIM" "$@"; }
try() {
    printf '$ vramsim'
    for word in "$@"; do printf ' %s' "$word"; done
    echo
    vramsim "$@" 2>&1
    echo "exit $?"
}
unpack() { zstd -d -q -f "$ROOT/tests/data/$1.zst" -o "$(basename "$1")"; }
LIB

export ROOT VRAMSIM LC_ALL=C.UTF-8 TERM=dumb
unset DISPLAY WAYLAND_DISPLAY VRAMSIM_LIB VRAMSIM_VIEW NO_COLOR
(cd "$work/in" && sh -c '. "$1"; . "$2"' sh "$work/lib.sh" "$case") >"$work/stdout" 2>"$work/stderr" </dev/null
code=$?
if [ $code -eq 77 ]; then
    cat "$work/stderr" >&2
    exit 77
fi

# what differs from machine to machine, and the line numbers of the scenarios that are shipped
for stream in stdout stderr; do
    sed -e "s|$work/in|FOLDER|g" -e "s|$ROOT|ROOT|g" -e 's|\(ROOT/scenarios/[a-z0-9_/]*\.lua\):[0-9]*:|\1:LINE:|' \
        "$work/$stream" >"$work/$stream.exact"
done
echo $code >"$work/exit"

failed=0
check() { # FILE GOLDEN DEFAULT
    if [ "${VRAMSIM_REWRITE:-}" = 1 ]; then
        if [ "$(cat "$1")" = "$3" ]; then rm -f "$2"; else cp "$1" "$2"; fi
        return
    fi
    golden=$2
    [ -e "$golden" ] || { golden=$work/default; printf '%s' "${3:+$3
}" >"$golden"; }
    if ! diff -u "$golden" "$1"; then
        echo "FAILED: $2"
        failed=1
    fi
}
check "$work/stdout.exact" "$name.stdout.exact" ''
check "$work/stderr.exact" "$name.stderr.exact" ''
check "$work/exit" "$name.exit" 0
exit $failed
