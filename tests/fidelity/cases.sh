# shellcheck shell=bash disable=SC2154 # the variables of the caller
# cases.sh: what measured and numeric share; sourced, with $setup_root, $here and the array `wanted` set. Gives $program, $work.

program=${VRAMSIM:-}
if [ -z "$program" ]; then
    . "$setup_root/cmake/setup.sh"
    setup_program
    program=$setup_build/bin/vramsim
fi
export VRAMSIM_LIB=${VRAMSIM_LIB:-$setup_root/scenarios/lib}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

is_wanted() { # ID against the patterns of the command line
    [ ${#wanted[@]} -gt 0 ] || return 0
    local pattern
    for pattern in "${wanted[@]}"; do
        # shellcheck disable=SC2254 # a pattern is meant
        case $1 in $pattern) return 0 ;; esac
    done
    return 1
}

# simulate ID SCENARIO [NAME=VALUE|--OPTION=VALUE...]: the run as lines PATH=VALUE in $work/run; from the cache when the same
# command has run before (rows that differ in their meter alone). SCENARIO: of scenarios, else of numeric_scenarios here.
simulate() {
    local id=$1 scenario=$2 word options=() key
    shift 2
    key=$work/$(printf '%s\n' "$scenario" "$@" | cksum | tr ' ' -)
    if [ ! -s "$key" ]; then
        for word in "$@"; do
            case $word in
            --*=*) options+=("${word%%=*}" "${word#*=}") ;;
            *) options+=(--set "$word") ;;
            esac
        done
        [ -f "$setup_root/scenarios/$scenario.lua" ] && scenario=$setup_root/scenarios/$scenario.lua ||
            scenario=$here/numeric_scenarios/$scenario.lua
        "$program" run "$scenario" ${options[@]+"${options[@]}"} --quiet --no-view --json "$work/run.json" 2>"$work/errors"
        if [ ! -s "$work/run.json" ]; then
            sed "s/^/    $id: /" "$work/errors"
            return 1
        fi
        awk -f "$setup_root/tests/support/json.awk" "$work/run.json" >"$key"
        rm -f "$work/run.json"
    fi
    cp "$key" "$work/run"
}

# figure METER FILE: the number of a run
figure() {
    awk -v meter="$1" -f "$here/figure.awk" "$2"
}
