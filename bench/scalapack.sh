#!/usr/bin/env bash
# bench/scalapack.sh [RANKS [SHAPE...]]: times pdgemm of an unmodified program in turn in one run. One way
# is the distribution's ScaLAPACK with its OpenBLAS. The other way is tesela preloaded into the program. A
# SHAPE is M,N,K; K = 0: a transpose. Each rank has one thread, and a waiting rank yields its processor
# (tests/mpi/run.sh). BLOCKS, TURNS and REPEATS can be set.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
read -ra ranks_list <<<"${1:-4 8 16}"
shift || true
shapes=("$@")
[ ${#shapes[@]} -gt 0 ] || shapes=(8192,8192,8192 1000,1000,100000)
read -ra blocks <<<"${BLOCKS:-64 128 256}"
library=$PWD/$build/lib/libtesela_scalapack.so program=$PWD/$build/bin/scalapack_bench
[ -x "$program" ] || {
  echo "$program is missing: configure the build with ScaLAPACK's development package (ci/setup.sh mpi)" >&2
  exit 3
}

# grid_of RANKS: prints the rows and columns of the grid nearest to a square.
grid_of() {
  local rows=1 p
  for ((p = 1; p * p <= $1; p++)); do [ $(($1 % p)) -ne 0 ] || rows=$p; done
  echo "$rows $(($1 / rows))"
}

# Prints first, least and median seconds: run_one RANKS LIBRARY M N K BLOCK ROWS COLS
run_one() {
  local preload=()
  [ -z "$2" ] || preload=(-x LD_PRELOAD="$2" -x TESELA_SCALAPACK="${TESELA_SCALAPACK:-auto}")
  OMP_NUM_THREADS=1 tests/mpi/run.sh mpirun "$1" "${preload[@]}" "$program" "${@:3}" "${REPEATS:-3}"
}

printf '%5s  %7s  %-24s  %5s  %12s  %12s  %7s\n' ranks grid product block 'ScaLAPACK, s' 'tesela, s' faster
for ranks in "${ranks_list[@]}"; do
  read -r rows cols < <(grid_of "$ranks")
  for shape in "${shapes[@]}"; do
    IFS=, read -r m n k <<<"$shape"
    for block in "${blocks[@]}"; do
      plain=() ours=()
      for _ in $(seq "${TURNS:-2}"); do
        plain+=("$(run_one "$ranks" '' "$m" "$n" "$k" "$block" "$rows" "$cols")")
        ours+=("$(run_one "$ranks" "$library" "$m" "$n" "$k" "$block" "$rows" "$cols")")
      done
      # Prints the least time of all turns.
      least() { printf '%s\n' "$@" | sort -g -k 2,2 | awk 'NR == 1 {print $2}'; }
      awk -v ranks="$ranks" -v grid="$rows x $cols" -v product="$m x $n x $k" -v block="$block" \
        -v plain="$(least "${plain[@]}")" -v ours="$(least "${ours[@]}")" \
        'BEGIN {printf "%5s  %7s  %-24s  %5s  %12.3f  %12.3f  %7.2f\n", ranks, grid, product, block, plain,
          ours, plain / ours}'
    done
  done
done
