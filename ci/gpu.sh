#!/usr/bin/env bash
# Runs the checks for a machine with a GPU: every device test, every strategy through the judge, and products
# against NumPy. Measures the start-up times that the kernel cache reduces.
#   ci/gpu.sh [BUILD]             BUILD is the build folder, build/release by default
#   ci/gpu.sh --sanitize [BUILD]  runs every kernel under compute-sanitizer's four tools instead: the judge's
#                                 standard cases, all types and layouts, all configs or probes, on operands
#                                 that fill their buffers. Takes minutes on an H200 with 16 cores.
#                                 SANITIZE_LOGS: folder of the logs (build/sanitize)
#                                 SANITIZE_ONLY: names of strategies (all)
#                                 SANITIZE_TOOLS: tools, and steps through cases
#                                 SANITIZE_SECONDS: seconds during which a process begins cases (100)
#   ci/gpu.sh --pack [BUILD]      packs the programs of --host into BUILD.tar.xz, for a machine without a
#                                 compiler and without cmocka
#   ci/gpu.sh --host [BUILD]      runs the CPU tests by CTest, once for each instruction set of HOST_SETS, on
#                                 processors that CI lacks (AMX). Unpacks BUILD.tar.xz if there is no BUILD.
#                                 HOST_JOBS: tests at a time (8); HOST_TESTS: a pattern of names (all)
#                                 Logs are kept in host/ of OUT or of BUILD.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
mode=
case ${1:-} in --*) mode=$1; shift ;; esac
build=${1:-build/release}
bin=$build/bin
cache=$(mktemp -d)
export TESELA_CACHE_DIR=$cache TESELA_WISDOM=none
trap 'rm -rf "$cache"' EXIT
failed=0

run() {
  local log status
  log=$(mktemp)
  "$@" >"$log" 2>&1
  status=$?
  case $status in
    0) echo "passed   $*" ;;
    77) echo "skipped  $*: $(tail -n 1 "$log")" ;;
    *) echo "FAILED   $* ($status)"; tail -n 30 "$log"; failed=1 ;;
  esac
  rm -f "$log"
}

# Prints the strategies with kernels as "op name", one a line.
kernel_strategies() {
  local op family name
  while read -r op family name; do
    compgen -G "src/strategy/$op/$family/$name/$name.c[lu]" >/dev/null &&
      echo "$op $name"
  done < <(sed -n 's/^ *X(\([a-z]*\), \([a-z]*\), \([a-z0-9_]*\)).*/\1 \2 \3/p' src/strategy/strategy_list.h)
}

# --- the processor ---

# Tests that need no device with kernels and no other programs; then tests that choose their instruction set.
host_tests='check_.*_cpu|check_gemm_host_amx_.*|same_bits_.*|fenced_.*|test_exact.*|test_bounds|test_grades'
host_tests+='|test_starved.*|test_comm_(product|transpose|bits)'
host_tests+='|blas_(routines|level[123]|places|starved|stray|known|twice|switch).*'
host_tests+='|test_api(_level3|_ops|_solve|_threads|_stress|_explain)?|test_host_.*'
host_tests+='|test_(at_once|batch|blocked|cpu|dispatch|dot_narrow|grids|grouped|packed|parts|plan|pool)'
host_tests+='|test_(residue_host|scalars|stack|structures|threads|transpose_host|types|view)'
own_set='_(generic|avx2|avx512|avx512_vnni|avx512_bf16|amx)(_[0-9])?'

# Packs these tests' stripped programs, libraries that another machine may lack, and CTest's lists.
pack() {
  local kit
  kit=$(mktemp -d)
  {
    find "$build" -name CTestTestfile.cmake
    find "$build/lib" -name '*.so*'
    printf '%s\n' "$build/CMakeCache.txt" "$bin/tesela" "$bin/same_bits"
    ctest --test-dir "$build" -R "^($host_tests)\$" --show-only=json-v1 |
      python3 -c 'import json, sys
print(*(word for test in json.load(sys.stdin)["tests"] for word in test.get("command", [])), sep="\n")' |
      sed -n "s|^$PWD/\($bin/.*\)|\1|p"
  } | sort -u | tar -c --no-recursion -T - | tar -x -C "$kit"
  find "$kit" -type f \( -perm -u+x -o -name '*.so*' \) -exec strip {} + 2>/dev/null
  mkdir -p "$kit/$build/others"
  ldd "$kit/$bin"/* 2>/dev/null | awk '$3 ~ /lib(cmocka|jansson|mpfr|gmp|z)\./ {print $3}' | sort -u |
    xargs cp -Lt "$kit/$build/others"
  # The programs have the library in common, which a window of that size sees.
  tar -C "$kit" -c "$build" | xz -T1 -3 --lzma2=preset=3,dict=256MiB >"$build.tar.xz"
  rm -rf "$kit"
  ls -l "$build.tar.xz"
}

test_host() {
  local source set log not=() logs=${OUT:-$build}/host
  mkdir -p "$logs"
  [ -d "$bin" ] || python3 -m tarfile -e "$build.tar.xz" . || exit
  # CTest's lists and some programs have the path of the folder in which they were built.
  source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
  [ -e "$source" ] || { mkdir -p "$(dirname "$source")" && ln -s "$PWD" "$source"; } || exit
  export LD_LIBRARY_PATH=$PWD/$build/lib:$PWD/$build/others
  # Programs run as they are; parts of tests that need OpenCL are skipped where there is none.
  "$bin/tesela" devices | grep -q opencl || export TESELA_EMULATOR=env
  for set in ${HOST_SETS:-best avx512 avx2 generic}; do
    if [ "$set" = best ]; then unset TESELA_ISA; else export TESELA_ISA=$set; fi
    printf '\n== %s: %s\n' "$set" "$("$bin/same_bits" --name)"
    log=$logs/$set.log
    ctest --test-dir "$build" --output-on-failure --timeout 120 -j "${HOST_JOBS:-8}" \
      -R "^(${HOST_TESTS:-$host_tests})\$" "${not[@]}" >"$log" 2>&1 || failed=1
    sed -n '/tests passed/,$p' "$log"
    not=(-E "$own_set\$")
  done
  exit $failed
}

# --- compute-sanitizer ---

sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
logs=${SANITIZE_LOGS:-build/sanitize}

# Runs one tool on one strategy, or on one of its parts, and writes a line for the summary.
sanitize_one() { # tool step op name part parts
  local log=$logs/$1-$3-$4-$5.log start=$SECONDS status
  local unseen=()
  # initcheck does not see what tensor maps write.
  [ "$1" = initcheck ] && unseen=(--kernel-name-exclude kernel_substring=tsl_gemm_cuda_wgmma_fold)
  "$sanitizer" --tool "$1" "${unseen[@]}" --error-exitcode 9 --print-limit 20 --report-api-errors no \
    "$bin/check_strategy" "$3" "$4" cuda 0 tight "$2" part "$5" of "$6" within "${SANITIZE_SECONDS:-100}" \
    >"$log" 2>&1
  status=$?
  if [ $status = 77 ] || grep -q '^skipped' "$log"; then
    echo "skipped  $1 $3 $4: $(grep '^skipped' "$log" | tail -n 1)"
  elif [ $status = 0 ] && grep -q 'SUMMARY: 0 ' "$log"; then
    cases=$(sed -n 's/.*: \([0-9]*\) right, .*/\1/p' "$log" |
      awk '{ s += $1 } END { print NR " configs and types, " s " cases" }')
    rest=$(sed -n 's/^\([0-9]*\) cases not begun.*/\1/p' "$log" |
      awk '{ s += $1 } END { if (s) print ", " s " not begun" }')
    kernels=$(sed -n 's/^kernels on cuda:[0-9]*://p' "$log" | tail -n 1)
    echo "clean    $1 $3 $4 $5/$6: $cases$rest, $((SECONDS - start)) s:$kernels"
  else
    echo "FAILED   $1 $3 $4 $5/$6 ($status): $log"
    grep -E '^=========|wrong' "$log" | head -n 30
  fi
}

# Number of processes that share a strategy's configs where compilation takes long.
parts_of() {
  case $1 in
    cuda_wgmma) echo 6 ;;
    cuda_mma | opencl_mma) echo 3 ;;
    *) echo 1 ;;
  esac
}

# Runs all tools, several at a time. memcheck comes first and compiles the kernels for the others; it tries
# more pairs of config and types on each case.
sanitize_all() {
  local tool step op name part
  mkdir -p "$logs"
  export bin sanitizer logs
  export -f sanitize_one
  while read -r tool step; do
    while read -r op name; do
      [[ -z "${SANITIZE_ONLY:-}" || " $SANITIZE_ONLY " = *" $name "* ]] || continue
      for part in $(seq 0 $(($(parts_of "$name") - 1))); do
        echo "$tool $step $op $name $part $(parts_of "$name")"
      done
    done < <(kernel_strategies | sort -t ' ' -k 2 -r)
  done <<<"${SANITIZE_TOOLS:-memcheck 3
initcheck 6
racecheck 6
synccheck 6}" | xargs -P 8 -L 1 bash -c 'sanitize_one "$@"' sanitize_one | tee "$logs/summary"
  for op in gemm dot transpose; do
    ls "$logs"/memcheck-$op-*.log >/dev/null 2>&1 || continue
    shapes=$(cat "$logs"/memcheck-$op-*.log |
      sed -n 's/^case \([0-9]* x [0-9]* x [0-9]*\) .*/\1,/p' | sort -u | tr '\n' ' ')
    echo "shapes of $op: $shapes"
  done
  echo "done after $SECONDS s"
  ! grep -q '^FAILED' "$logs/summary"
}

case $mode in
  --sanitize) sanitize_all; exit ;;
  --pack) pack; exit ;;
  --host) test_host ;;
  '') ;;
  *) echo "ci/gpu.sh: there is no $mode; there are --sanitize, --pack and --host" >&2; exit 2 ;;
esac

"$bin/tesela" devices
for test in unit/test_cuda cuda/test_cuda_device unit/test_opencl unit/test_opencl_kernels \
  unit/test_device_conformance unit/test_device_kernels api/test_dialect cuda/test_nvrtc fake/test_inject \
  api/test_api_opencl; do
  [ -x "$bin/tests_${test%/*}" ] && run "$bin/tests_${test%/*}" "${test#*/}"
done
while read -r op strategy; do
  for kind in opencl cuda; do
    run "$bin/check_strategy" "$op" "$strategy" "$kind"
  done
done < <(kernel_strategies)
for peer in vendor_clblast:opencl vendor_cublas:cuda vendor_cublaslt:cuda; do
  run "$bin/check_strategy" gemm "${peer%:*}" "${peer#*:}"
  run "$bin/tests_api" test_api_vendor "${peer%:*}" "${peer#*:}:0"
done
devices=$("$bin/tesela" devices --json |
  python3 -c 'import json, sys; print(*[d["name"] for d in json.load(sys.stdin)["devices"]])')
python3 ci/compare_numpy.py "$bin/tesela" $devices || failed=1

# Times to open the device and to get the kernel, without and with a cache entry.
for device in $devices; do
  [ "$device" = cpu ] && continue
  rm -rf "$cache"
  for start in cold warm warm; do
    echo "$start start on $device:"
    TESELA_LOG=cache,device "$bin/tesela" multiply examples/data/ascent.npy examples/data/blur.mtx \
      --type f32 --device "$device" \
      --strategy "tile_local tile=16" 2>&1 | grep -E '^tesela .* (open|compiled|loaded)|^  total' || failed=1
  done
done
exit $failed
