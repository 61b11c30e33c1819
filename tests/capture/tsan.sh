#!/usr/bin/env bash
# tests/capture/tsan.sh BUILD: the capture library, its stand-in for CUPTI and eight threads under ThreadSanitizer, built in BUILD.
set -u
build=$(cd "$1" && pwd) || exit 2
root=$(cd "$(dirname "$0")/../.." && pwd)
cc=${CC:-cc}
out=$build/capture/tsan
mkdir -p "$out" || exit 2
echo 'int main(void) { return 0; }' >"$out/probe.c"
"$cc" -fsanitize=thread -o "$out/probe" "$out/probe.c" 2>/dev/null && "$out/probe" ||
    { echo "the compiler has no ThreadSanitizer here: not run"; exit 77; }
common=(-std=c17 -g -O1 -D_GNU_SOURCE -fsanitize=thread -fPIC -pthread -iquote "$root/trace/capture" -iquote "$root/trace/vrt"
    -iquote "$root/sim/base" -iquote "$root/tests/capture")
sources=()
for name in capture cupti decode vmm nvtx torch sample sink ring strings; do sources+=("$root/trace/capture/$name.c"); done
"$cc" "${common[@]}" -shared -Wl,-Bsymbolic -o "$out/libcapture.so" "${sources[@]}" "$root"/trace/vrt/vrt_{out,crc}.c \
    "$root/sim/base/error.c" -ldl || exit 1
"$cc" "${common[@]}" -shared -o "$out/libfake_cupti.so" "$root/tests/capture/fake_cupti.c" || exit 1
"$cc" "${common[@]}" -o "$out/host" "$root/tests/capture/host.c" -L"$out" -lfake_cupti -Wl,-rpath,"$out" -ldl || exit 1
rm -f "$out/run.vrt"
printf 'threads 8 2000\nsleep 150\npush step\nthreads 8 2000\npop\nexit return\n' |
    VRAMSIM_CUPTI_LIB=$out/libfake_cupti.so CUDA_INJECTION64_PATH=$out/libcapture.so NVTX_INJECTION64_PATH=$out/libcapture.so \
        VRAMSIM_OUT=$out/run.vrt TSAN_OPTIONS=exitcode=66 "$out/host"
code=$?
[ $code -eq 0 ] || echo "exit code $code"
exit $code
