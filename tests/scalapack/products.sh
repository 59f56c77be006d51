#!/usr/bin/env bash
# products.sh PROGRAM RANKS CASES LIBRARY: random products and transposes (products.c) with the drop-in
# preloaded, or linked where LIBRARY is "linked". Each result is right, and tesela computed it.
set -euo pipefail
program=$1 ranks=$2 cases=$3 library=$4
. "$(dirname "$0")/mpirun.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
preload=()
[ "$library" = linked ] || preload=(-x LD_PRELOAD="$library")
run_ranks "$ranks" "${preload[@]}" -x TESELA_SCALAPACK=tesela -x TESELA_LOG=calls "$program" "$cases" \
  >"$scratch/output" 2>"$scratch/log" ||
  { cat "$scratch/output"; grep -v ': tesela, ' "$scratch/log"; exit 1; }
cat "$scratch/output"
read -r calls _ <"$scratch/output"
done=$(grep -c ': tesela, ' "$scratch/log") || true
if [ "$calls" != "$done" ]; then
  echo "tesela did $done of $calls"
  grep -v ': tesela, ' "$scratch/log" | head
  exit 1
fi
