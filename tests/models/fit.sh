#!/usr/bin/env bash
# fit.sh BENCH_MODELS FIT FILE: the times are the models' own, with changed constants and noise.
# The fit must find predictions for these times. A fit without rounds must fail.
set -euo pipefail
models=$1 fit=$2 file=$3
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import numpy' 2>/dev/null; then
    break
  fi
  python=
done
if [ -z "$python" ]; then
  echo "skipped: there is no python3 with NumPy"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
awk '/^device/ || / cuda_d?mma /' "$file" >"$folder/costs.txt"
table=$folder/table.h
printf '/* rows */\n{.label = "other",\n .whole = {.launch_share = 1}},\n' >"$table"
arguments=("$folder/costs.txt" --models "$models" --synthetic 1 --only mma,dmma --table "$table")
"$python" "$fit" "${arguments[@]}" --limit 0.02 --write
grep -q '"other"' "$table" && grep -q 'NVIDIA' "$table" && grep -q '[.]dmma = {[.]first_clocks' "$table"
if "$python" "$fit" "${arguments[@]}" --limit 0.02 --rounds 0; then
  echo "a fit without rounds was accepted"
  exit 1
fi
