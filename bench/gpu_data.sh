#!/usr/bin/env bash
# gpu_data.sh [FOLDER]: measures a CUDA device on kinds of ordinary numbers (core/kinds.h), in about eight
# minutes. First the judge checks residue_int8. Then products are timed in turn in one process: tesela's
# choice, its choice without residue_int8, and cuBLASLt. Some kinds suit residues, others do not. After the
# peer's ratio comes the time without residue_int8 divided by tesela's: at least 0.95 is required.
#
# BIN has bench_gpu and check_strategy (build/release/bin), DATA lists the kinds, LIMIT is the time of the
# measurements in seconds (420). Models choose (TESELA_WISDOM=none): records were measured on normal
# numbers.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
bin=${BIN:-$root/build/release/bin} folder=${1:-$root/build/gpu_data} limit=${LIMIT:-420}
data=${DATA:-normal,relu,softmax,lognormal,kernel,identity,graded} failed=0
export TESELA_WISDOM=none
mkdir -p "$folder"

if timeout 150 "$bin/check_strategy" gemm residue_int8 cuda 20 >"$folder/check.log" 2>&1; then
  echo "judged   residue_int8: $(sed -n 's/.*: \([0-9]*\) right, .*/\1/p' "$folder/check.log" |
    awk '{ s += $1 } END { print s + 0 }') right"
else
  echo "WRONG    residue_int8: $(grep -m 1 -vE ' right, [0-9]+ wrong' "$folder/check.log")"
  failed=1
fi

# measure GROUP SIZES: times a group of gpu_rows.h at these sizes.
measure() {
  "$bin/bench_gpu" --data "$data" --without residue_int8 --seconds 0.05 --only "=$1" --shapes "$2" \
    --limit "$((limit - SECONDS + 150))" --json "$folder/${1// /_}.json" |
    tee "$folder/${1// /_}.log" || failed=1
}
measure "f64 squares" "2048 4096 8192"
measure "f32 squares" "2048 4096 8192"
measure "c128" "2048"
measure "c64 squares" "2048"
echo "$SECONDS s in all; tables and JSON are in $folder"
exit $failed
