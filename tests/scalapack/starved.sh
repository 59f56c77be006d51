#!/usr/bin/env bash
# starved.sh PROGRAM LIBRARY STARVE: one of three ranks gets no memory for tesela's larger blocks. Every call
# is right all the same, computed by the program's own ScaLAPACK on all ranks, and no rank waits for ever.
set -euo pipefail
program=$1 library=$2 starve=$3
. "$(dirname "$0")/mpirun.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for least in 3000 200; do
  STARVE=$least run_ranks 3 -x STARVE -x LD_PRELOAD="$library:$starve" -x TESELA_SCALAPACK=tesela \
    -x TESELA_LOG=calls "$program" 24 \
    >"$scratch/output" 2>"$scratch/log" || { cat "$scratch/output"; tail "$scratch/log"; exit 1; }
  refused=$(grep -c ': libscalapack.*rank 1: cannot take' "$scratch/log") || true
  echo "$(cat "$scratch/output"); $refused for want of memory"
  [ "$refused" -gt 0 ]
done
