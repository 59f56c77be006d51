#!/usr/bin/env bash
# The choice between a tuned library and tesela for Level 3 is measured once, in the background, and stored.
#   standing_level3.sh PROGRAM LIBRARY SCRATCH
set -euo pipefail
program=$1 library=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
export STANDING_FILE=$scratch/cache/blas
export TESELA_CACHE_DIR=$scratch/cache TESELA_WISDOM=$scratch/wisdom SLOW_CORE=Haswell TESELA_THREADS=1
failed=0

# run LIBRARY SECONDS WHY [LEAST]: expects LIBRARY to compute when the other library's calls take SECONDS, and
# LEAST to compute the smallest measured size (default: LIBRARY).
run() {
  SLOW_SECONDS=$2 "$program" test_standing_level3 "$library" "$1" "${4:-$1}" >"$scratch/out" 2>&1 ||
    { echo "FAILED: $3"; cat "$scratch/out"; failed=1; }
}
run tesela 0.25 "a slow library's calls are measured, and taken"
STANDING_IS_KEPT=1 run tesela 0 "what was measured is kept"
[ "$(grep -c '^measured ' "$scratch/cache/blas")" = 2 ] ||
  { echo "FAILED: one line a symbol"; cat "$scratch/cache/blas"; failed=1; }
STANDING_LINES=5 SLOW_CORE=Zen run other 0 "one with other kernels is another one"
STANDING_IS_KEPT=1 SLOW_CORE=Zen run other 0.25 "and that is kept, too"
rm -r "$scratch/cache"
STANDING_LINES=3 run other 0 "a fast library keeps its calls"
rm -r "$scratch/cache"
TESELA_WISDOM=none run other 0.25 "nothing is measured where wisdom is none"
SLOW_PARALLEL=0 run other 0.25 "a library without threads does not race"
[ ! -e "$scratch/cache/blas" ] || { echo "FAILED: it was kept"; failed=1; }
rm -rf "$scratch/cache"
STANDING_LINES=3 SLOW_MOST=100000 run other 0.25 "small calls may be taken where large ones are not" tesela
TESELA_CACHE_SIZE=0 run tesela 0.25 "what cannot be kept is measured again"
exit $failed
