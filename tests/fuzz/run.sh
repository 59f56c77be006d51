#!/usr/bin/env bash
# Fuzzes the readers of matrix files with libFuzzer (needs clang):
#
#   tests/fuzz/run.sh SECONDS [FORMAT...]      e.g. tests/fuzz/run.sh 600 csv txt
#
# Each format runs for SECONDS, one after the other, and stops at the first finding, which is stored in
# build/fuzz/findings. Fix the fault, put the file into tests/data/bad with its row in
# tests/formats/test_bad.c, and run again. The folder build/fuzz/corpus has the inputs learned so far;
# tests/fuzz/corpus has the small permanent part.
set -euo pipefail
seconds=${1:?"how many seconds for each format?"}
shift
cd "$(dirname "$0")/../.."
build=build/fuzz
cmake -S . -B "$build" -DCMAKE_C_COMPILER="${CC:-clang}" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTESELA_FUZZ=ON \
  -DTESELA_SANITIZE=fuzzer-no-link,address,undefined >/dev/null
mkdir -p "$build/findings"
for format in ${*:-npy mtx csv txt}; do
  cmake --build "$build" --target "fuzz_$format" >/dev/null
  mkdir -p "$build/corpus/$format"
  echo "== $format, $seconds s"
  "$build/bin/fuzz_$format" -max_total_time="$seconds" -max_len=8192 -timeout=10 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$format-" "$build/corpus/$format" \
    "tests/fuzz/corpus/$format" "tests/data/$format" tests/data/packed tests/data/bad
done
