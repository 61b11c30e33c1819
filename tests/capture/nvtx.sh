#!/usr/bin/env bash
# tests/capture/nvtx.sh BUILD: the phases that a real client of NVTX leaves, without a GPU.
set -u
build=$(cd "$1" && pwd) || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export VRAMSIM_CUPTI_LIB=$build/capture/libfake_cupti.so ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0
"$build/bin/vramsim" capture --quiet -o "$work/n.vrt" -- "$build/capture/capture_nvtx" || exit 1
found=$("$build/bin/vramsim" dump timeline "$work/n.vrt" | awk '{ print $3, $4, $5 }' | cut -c1-40)
expected=$(printf '%s\n' 'phase_begin step 1' 'phase_begin 前向 ' 'phase_end 前向 ' 'phase_begin backward ' 'phase_end backward ' \
    'phase_begin optimizer ' 'phase_end optimizer ' 'phase_begin xxxxxxxxxxxxxxxxxxxxxxxxxxxx' \
    'phase_end xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' 'phase_begin  ' 'phase_end  ' 'phase_end step 1')
[ "$found" = "$expected" ] && exit 0
printf -- '--- expected\n%s\n--- found\n%s\n' "$expected" "$found"
exit 1
