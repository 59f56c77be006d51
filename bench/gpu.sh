#!/usr/bin/env bash
# gpu.sh [--quick] [FOLDER [OPTION...]]: compares a CUDA device with cuBLASLt in less than ten minutes
# (--quick: two). First the judge checks a sample of each family of kernels. Then every product of
# gpu_rows.h is timed, in turn with the fastest of cuBLASLt's proposals, in one process. A short table comes
# last: 10^12 operations a second of both, the ratio, then geometric means. JSON and logs are kept in FOLDER
# (build/gpu). OPTIONs go to bench_gpu, such as: --only f64 --rivals 2 (gpu.c explains them).
#
# BIN has bench_gpu and check_strategy (build/release/bin). CHECK lists the judged families (CHECK= none).
# LIMIT is the total time in seconds (540; --quick 110). Kernels are compiled first, by one process for each
# core.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
bin=${BIN:-$root/build/release/bin} quick=()
[ "${1:-}" = --quick ] && { quick=(--quick); shift; }
folder=${1:-$root/build/gpu}
shift || true
if [ ${#quick[@]} = 0 ]; then limit=${LIMIT:-540} random=20; else limit=${LIMIT:-110} random=2; fi
check=${CHECK-cuda_wgmma cuda_mma cuda_whole cuda_strip cuda_dmma opencl_mma register_tile thin_tile
  cuda_few_rows}
cores=$(nproc) failed=0
[ -d "${TESELA_KERNEL_DIR:-}" ] || unset TESELA_KERNEL_DIR
mkdir -p "$folder"
rm -f "$folder"/check-*.log

compile() {
  for i in $(seq 0 $((cores - 1))); do
    "$bin/bench_gpu" "${quick[@]}" --compile "$i/$cores" "$@" >"$folder/compile.log" 2>&1 &
  done
  wait
}

# Judges one family and prints a line.
judge() {
  local status begin=$SECONDS
  timeout $((limit / 3)) "$bin/check_strategy" gemm "$1" cuda "$random" >"$folder/check-$1.log" 2>&1
  status=$?
  case $status in
    0) echo "judged   $1: $(sed -n 's/.*: \([0-9]*\) right, .*/\1/p' "$folder/check-$1.log" |
      awk '{ s += $1 } END { print s + 0 }') right, $((SECONDS - begin)) s" ;;
    77) echo "skipped  $1: $(tail -n 1 "$folder/check-$1.log")" ;;
    124) echo "judged   $1: not all, $((limit / 3)) s had passed: $(tail -n 1 "$folder/check-$1.log")" ;;
    *) echo "WRONG    $1 ($status): $(grep -m 1 -vE ' right, [0-9]+ wrong' "$folder/check-$1.log")" ;;
  esac
}

for family in $check; do
  judge "$family" >"$folder/judged-$family" &
done
wait
for family in $check; do
  cat "$folder/judged-$family"
  grep -q ^WRONG "$folder/judged-$family" && failed=1
  rm -f "$folder/judged-$family"
done
compile "$@"
echo "checked and compiled after $SECONDS s"
"$bin/bench_gpu" "${quick[@]}" --limit $((limit - SECONDS)) --json "$folder/gpu.json.new" "$@" |
  tee "$folder/gpu.log" || failed=1
[ -s "$folder/gpu.json.new" ] && mv "$folder/gpu.json.new" "$folder/gpu.json"
echo "$SECONDS s in all; $folder/gpu.json"
exit $failed
