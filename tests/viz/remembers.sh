#!/bin/sh
# What the window remembers, with SDL's own display that shows nothing. Usage: remembers.sh VIEWER FILE
set -u
viewer=$1 file=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DISPLAY WAYLAND_DISPLAY VRAMSIM_LANG VRAMSIM_SCALE LC_ALL LC_MESSAGES LANG
export SDL_VIDEODRIVER=dummy XDG_CONFIG_HOME="$work/config" HOME="$work"
kept=$XDG_CONFIG_HOME/vramsim/view

fail() {
    echo "FAILED: $1" >&2
    exit 1
}

# play COMMANDS [OPTION...]: what is said on both streams goes to $said
play() {
    printf '%b' "$1" >"$work/script"
    shift
    said=$("$viewer" "$file" --script "$work/script" --window "$@" 2>&1) || fail "exit code $?: $said"
}

play 'key p\n'
[ ! -e "$kept" ] || fail "nothing was changed, and yet $(cat "$kept")"
play 'key t\nkey Ctrl+L\nkey Ctrl++\nkey F2\nkey c\n'
[ "$(cat "$kept")" = "$(printf 'theme light\nlanguage zh\nscale 125\ngrouping path\ntabs off 34')" ] ||
    fail "kept: $(cat "$kept")"
play 'expect theme 1\nexpect language 1\nexpect scale 125\nexpect grouping 1\nkey Ctrl+0\n'
grep -qx 'scale 100' "$kept" || fail "the scale was not kept: $(cat "$kept")"
play 'expect theme 0\nexpect language 0\n' --theme dark --lang en
grep -qx 'theme light' "$kept" || fail "an option was remembered: $(cat "$kept")"
play 'expect theme 0\nkey t\n' --no-remember
grep -qx 'language zh' "$kept" || fail "--no-remember wrote: $(cat "$kept")"
[ "$(find "$XDG_CONFIG_HOME" -type f | wc -l)" -eq 1 ] || fail "more than one file is left"
printf 'theme light\nscale huge\n' >"$kept"
play 'expect theme 0\n'
[ "$said" = "vramsim-view: $kept: line 2: 'scale huge': not a setting; begins as usual" ] || fail "said: $said"
head -c 3000 /dev/zero >"$kept"
play 'expect theme 0\n'
[ "$said" = "vramsim-view: $kept: not a text; begins as usual" ] || fail "said: $said"
rm -rf "$XDG_CONFIG_HOME"
: >"$XDG_CONFIG_HOME" # a file where the folder should be
play 'key t\n'
case $said in
*"not remembered: $XDG_CONFIG_HOME/vramsim: "*) ;;
*) fail "said: $said" ;;
esac
XDG_CONFIG_HOME=relative play 'key t\n'
grep -qx 'theme light' "$work/.config/vramsim/view" || fail "not in the home's folder"
echo passed
