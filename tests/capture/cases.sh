#!/usr/bin/env bash
# tests/capture/cases.sh BUILD: the capture library, loaded into a program that does what a script says, with a stand-in for
# CUPTI. One line a case; exit code 1 when one fails.
set -u
build=$(cd "$1" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
vramsim=$build/bin/vramsim
host=$build/capture/capture_host
export VRAMSIM_CUPTI_LIB=$build/capture/libfake_cupti.so ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0
unset VRAMSIM_OUT VRAMSIM_KINDS CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH LD_PRELOAD VRAMSIM_CAPTURE RANK
failures=0

# case NAME: its script on standard input; standard error goes to NAME.err, the recording to NAME.vrt
run() {
    local name=$1
    shift
    env "$@" "$vramsim" capture -o "$name.vrt" -- "$host" >"$name.out" 2>"$name.err"
}
# what was recorded, without times
events() { "$vramsim" dump timeline "$1.vrt" | sed 's/ t=[0-9]*//'; }
check() { # NAME WHAT EXPECTED FOUND
    if [ "$3" = "$4" ]; then
        echo "ok    $1: $2"
    else
        printf 'FAIL  %s: %s\n--- expected\n%s\n--- found\n%s\n' "$1" "$2" "$3" "$4"
        failures=$((failures + 1))
    fi
}
has() { # NAME WHAT FILE TEXT
    if grep -qF -- "$4" "$3"; then
        echo "ok    $1: $2"
    else
        printf 'FAIL  %s: %s: "%s" is not in\n%s\n' "$1" "$2" "$4" "$(cat "$3")"
        failures=$((failures + 1))
    fi
}
count() { events "$1" | grep -c "^[0-9]* $2 "; }

# --- what each record becomes ---
run all <"$here/all.script"
check all 'exit code' 0 $?
check all 'its events' "$(cat "$here/all.expected")" "$(events all)"
for version in 18 20 26 130001; do
    run "version$version" FAKE_CUPTI_VERSION=$version <"$here/all.script"
    check "version $version" 'the same events' "$(cat "$here/all.expected")" "$(events version$version)"
done
run rings VRAMSIM_SUBSCRIBE=0 <"$here/all.script"
check 'no subscriber' 'memory without the virtual one' "0 5" "$(count rings segment_map | sed s/2/0/) $(count rings alloc)"

# --- ends of the program ---
for how in return exit; do
    printf 'push step\nalloc 0 3 0x7f0000000000 2097152\npop\nexit %s\n' $how | run "$how"
    check "$how" 'all is there' "3 1" "$(events $how | wc -l | sed s/4/3/) $(count $how alloc)"
    "$vramsim" info $how.vrt >$how.info
    check "$how" 'a clean end' "" "$(grep -o 'was not ended' $how.info)"
done
for how in _exit abort kill; do
    printf 'alloc 0 3 0x7f0000000000 2097152\nsleep 400\nalloc 0 3 0x7f0000400000 2097152\nexit %s\n' $how | run "$how"
    code=$?
    case $how in _exit) want=0 ;; abort) want=134 ;; kill) want=137 ;; esac
    check "$how" 'exit code' $want $code
    check "$how" 'what was written before' 1 "$(count $how alloc)"
    "$vramsim" info $how.vrt >$how.info
    has "$how" 'it is told' $how.info 'was not ended'
done
printf 'alloc 0 3 0x7f0000000000 2097152\nfork\nalloc 0 3 0x7f0000400000 2097152\nexit return\n' | run fork
check fork 'the parent is recorded on, the child is not' "2 0 fork.vrt" "$(count fork alloc) $(count fork phase_begin) $(echo fork*.vrt)"
printf 'alloc 0 3 0x7f0000000000 2097152\nexec\nexit return\n' | run exec
check exec 'a file each' 2 "$(ls exec.*vrt | wc -l)"

# --- what goes wrong ---
printf 'push forward\nalloc 0 3 0x7f0000000000 2097152\npop\nexit return\n' >short
run taken FAKE_CUPTI_SUBSCRIBE=39 <short
check taken 'exit code' 0 $?
has taken 'who has it' taken.err 'CUPTI is not used: another tool holds it: another tool, error 39'
check taken 'ranges are there' "0 1" "$(count taken alloc) $(count taken phase_begin)"
run enable FAKE_CUPTI_ENABLE=15 <short
has 'no kinds' 'it is said' enable.err 'it gives no memory records'
VRAMSIM_CUPTI_LIB=$work/missing.so run missing <short
has 'no CUPTI' 'it is said' missing.err 'CUPTI is not used'
check 'no CUPTI' 'ranges are there' 1 "$(count missing phase_begin)"
printf 'drop 5\nalloc 0 3 0x7f0000000000 2097152\nsleep 300\nexit return\n' | run drop
"$vramsim" info drop.vrt >drop.info
has drop 'losses are told' drop.info 'the capture lost 5 records'
printf 'alloc 0 3 0x7f0000000000 2097152\nunknown\nalloc 0 3 0x7f0000400000 2097152\nexit return\n' | run unknown
check 'unknown kind' 'what stands before it' 1 "$(count unknown alloc)"
"$vramsim" info unknown.vrt >unknown.info
has 'unknown kind' 'the rest is lost and told' unknown.info 'the capture lost'
printf 'hold 1\nalloc 0 3 0x7f0000000000 2097152\nsleep 300\nexit return\n' | run hold
check 'held buffers' 'come at the end' 1 "$(count hold alloc)"
(
    ulimit -f 600
    printf 'threads 4 4000\nsay done\nthreads 4 4000\nexit return\n' | run full
)
check 'disk full' 'the program goes on' 'done 0' "$(cat full.out)"
has 'disk full' 'it is said once' full.err 'recording ends here'
check 'disk full' 'once' 1 "$(grep -c 'recording ends' full.err)"
"$vramsim" info full.vrt >full.info 2>&1
check 'disk full' 'what is there opens' 0 $?
touch there.vrt
"$vramsim" capture -o there.vrt -- "$host" <short 2>there.err
check 'a file is there' 'it is not replaced' "2 0" "$(grep -c . there.err | sed s/1/2/) $(stat -c %s there.vrt)"

# --- how it is called: what cannot become a recording is said before the program runs ---
refused() { # CODE TEXT ARGUMENTS...
    local want=$1 text=$2
    shift 2
    "$vramsim" capture "$@" -- touch "$work/ran" >call.out 2>call.err
    check "capture $*" 'exit code, and the program did not run' "$want no" "$? $([ -e "$work/ran" ] && echo yes || echo no)"
    has "capture $*" 'why' call.err "$text"
    rm -f "$work/ran"
}
refused 4 'the folder none/: No such file' -o none/x.vrt
refused 2 "'%q': known are" -o 'x%q.vrt'
refused 2 "'%': known are" -o 'x%'
refused 2 'expected a name such as' -o -
refused 2 'expected a name such as' -o ''
for word in ./missing.program "$work"; do
    "$vramsim" capture -o not.vrt -- "$word" 2>call.err
    code=$?
    check "program that cannot be started" 'exit code, one line' "1 1" "$((code >= 126)) $(grep -c 'nothing was' call.err)"
done
(echo $BASHPID >pid && exec "$vramsim" capture -o term.vrt -- sleep 60 2>/dev/null) &
sleep 1
kill -TERM "$(cat pid)"
wait $!
check 'SIGTERM' 'reaches the program' 143 $?

# --- threads ---
printf 'threads 8 2000\nexit return\n' | run threads
"$vramsim" info threads.vrt >threads.info
check threads 'every record, once' "16000 16000" "$(count threads alloc) $(count threads free_requested)"
check threads 'none lost' "" "$(grep -o 'lost.*' threads.info)"

# --- the runtime's entry points, where there is no CUPTI ---
VRAMSIM_CUPTI_LIB='' "$vramsim" capture --calls -o calls.vrt -- "$build/capture/capture_calls" 2>calls.err
check calls 'exit code' 0 $?
check calls 'what was called' "$(cat "$here/calls.expected")" "$(events calls)"

# --- PyTorch's pluggable allocator ---
"$vramsim" capture -o torch.vrt -- "$build/capture/capture_calls" torch "$build/bin/libvramsim-capture.so" 2>torch.err
check torch 'what was asked for' "$(cat "$here/torch.expected")" "$(events torch | grep ' alloc \| free_requested ')"

[ $failures -eq 0 ] || echo "$failures failed"
exit $((failures > 0))
