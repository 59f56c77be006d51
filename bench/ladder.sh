#!/usr/bin/env bash
# ladder.sh FOLDER [DEVICES]: measures the whole ladder of a machine into FOLDER (bench/results/<device>).
# The tables of docs/lab/ladder.md and docs/lab/results.md are made from it. DEVICES is as in `tesela
# explore --devices` (all).
#
#   bench/ladder.sh bench/results/nvidia-h200
#
# Small products leave time for the slowest rung, the triple loop, so that the tables have speed-ups. Dots
# and transposes are measured in the caches and far larger. A sweep changes one parameter, and large
# products have little time each. Takes about seven minutes with a GPU, mostly for operands and the judge. A
# file appears only when it is complete. TESELA is the tool (build/release/bin/tesela). Installed vendor
# libraries are measured, too.
set -uo pipefail
[ $# -ge 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | head -n -1; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
tool=${TESELA:-$root/build/release/bin/tesela}
folder=$1 devices=${2:-all} failed=0
mkdir -p "$folder"
export TESELA_WISDOM=none

# keep FILE COMMAND...: replaces FILE by the command's JSON if the command succeeds.
keep() {
  local file=$1 begin=$SECONDS
  shift
  if "$tool" "$@" --json >"$folder/$file.new"; then
    mv "$folder/$file.new" "$folder/$file"
    echo "$((SECONDS - begin)) s  $file: tesela $*"
  else
    echo "FAILED ($?): tesela $*" >&2
    rm -f "$folder/$file.new"
    failed=1
  fi
}

explore=(explore --devices "$devices" --peers --seconds 0.15)
keep ladder-gemm.json "${explore[@]}" --sizes 512,1024 --types f32,f64 --time-limit 6
keep ladder-f64.json "${explore[@]}" --sizes 2048,4096,4093 --types f64 \
  --strategies cuda_dmma,register_tile,vendor_cublas,vendor_cublaslt
keep ladder-narrow.json explore --devices "$devices" --seconds 0.3 --sizes 4096 --types bf16:f32,i8 \
  --time-limit 0.02
keep ladder-transpose.json "${explore[@]}" --op transpose --sizes 1000x3000,16384 --types f32 --time-limit 0.5
keep ladder-dot.json "${explore[@]}" --op dot --sizes 1048576 --types f32,f64
keep ladder-dot-large.json "${explore[@]}" --op dot --sizes 268435456 --types f32 --time-limit 0.5
keep sweep-tile_local.json sweep "gemm tile_local" tile=8,16,32 --devices "$devices" --types f32
keep sweep-block_tree.json sweep "dot block_tree" group=32,64,128,256,512,1024 --sizes 67108864 \
  --devices "$devices" --types f32
keep ladder-gemm-large.json "${explore[@]}" --sizes 2048,4096 --types f32 --time-limit 0.5
exit $failed
