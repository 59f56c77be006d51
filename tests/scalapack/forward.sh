#!/usr/bin/env bash
# forward.sh PROGRAM LIBRARY: the program's own ScaLAPACK computes, on all ranks, the calls that tesela does
# not take. Cases: by request, after different requests on different ranks, a rank without a library, small
# calls.
set -euo pipefail
program=$1 library=$2
. "$(dirname "$0")/mpirun.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
common=(-x LD_PRELOAD="$library" -x TESELA_LOG=calls)
check() { # what, a pattern that all lines of the log have
  read -r calls _ words wrong _ <"$scratch/output" || true
  if ! grep -q ', 0 wrong' "$scratch/output" || grep -q ': tesela, ' "$scratch/log" ||
    ! grep -q "$2" "$scratch/log"; then
    echo "$1: not all by the program's own ScaLAPACK, or wrong:"
    cat "$scratch/output"
    head "$scratch/log"
    exit 1
  fi
  echo "$1: $(cat "$scratch/output")"
}
run_ranks 2 "${common[@]}" -x TESELA_SCALAPACK=other "$program" 6 >"$scratch/output" 2>"$scratch/log"
check 'told so' 'libscalapack.*, that one is faster'
run_ranks 2 "${common[@]}" -x TESELA_SCALAPACK=auto "$program" 6 >"$scratch/output" 2>"$scratch/log"
check 'small ones' 'libscalapack.*, that one is faster'
run_ranks 2 "${common[@]}" -x TESELA_SCALAPACK=nonsense "$program" 6 >"$scratch/output" 2>"$scratch/log"
if [ "$(grep -c 'TESELA_SCALAPACK is "nonsense"; it can be auto, tesela or other; auto is taken' "$scratch/log")" != 1 ]; then
  echo "nonsense: not one line says so:"
  grep -v '^tesela calls' "$scratch/log"
  exit 1
fi
# The grid of both ranks is of two minds, whose every call goes on; the grid of one rank is tesela's.
run_ranks 1 "${common[@]}" -x TESELA_SCALAPACK=tesela "$program" 6 : -n 1 "${common[@]}" \
  -x TESELA_SCALAPACK=auto "$program" 6 \
  >"$scratch/output" 2>"$scratch/log"
sed -i '/ on 1 x 1: tesela, /d' "$scratch/log"
check 'of two minds' 'libscalapack.*have different settings'
# A process without the library: no process waits for it, and one line reports it.
run_ranks 1 "${common[@]}" -x TESELA_SCALAPACK=tesela "$program" 6 : -n 1 "$program" 6 >"$scratch/output" \
  2>"$scratch/log"
sed -i '/ on 1 x 1: tesela, /d' "$scratch/log"
check 'without the library on rank 1' 'libscalapack.*have different settings'
[ "$(grep -c '^tesela: rank 1 was started without libtesela_scalapack' "$scratch/log")" = 1 ] ||
  { cat "$scratch/log"; exit 1; }
run_ranks 1 "$program" 6 : -n 1 "${common[@]}" -x TESELA_SCALAPACK=tesela "$program" 6 >"$scratch/output" \
  2>"$scratch/log"
grep -q ', 0 wrong' "$scratch/output" &&
  grep -q '^tesela: rank 0 was started without libtesela_scalapack' "$scratch/log" ||
  { cat "$scratch/output" "$scratch/log"; exit 1; }
