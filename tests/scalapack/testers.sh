#!/usr/bin/env bash
# testers.sh LIBRARY FOLDER RANKS TYPE...: ScaLAPACK's own testers of level 3 PBLAS (Debian's
# scalapack-mpi-test, built from ScaLAPACK's source package), unmodified, with the drop-in preloaded. Every
# one of their products and transposes must be tesela's and pass; wrong arguments must be told as ScaLAPACK
# tells them, which they test, too.
set -euo pipefail
library=$1 folder=$2 ranks=$3
shift 3
here=$(dirname "$0")
. "$here/mpirun.sh"
programs=$(echo /usr/lib/*/scalapack/openmpi-tests/PBLAS)
inputs=/usr/share/scalapack/PBLAS
[ -x "$programs/dpb3tst" ] ||
  { echo "ScaLAPACK's testers are not installed (Debian's scalapack-mpi-test): skipped"; exit 77; }
mkdir -p "$folder"
cd "$folder"

# The distribution's own problems, all eight columns, on every grid of so many ranks; the first blocks are
# shorter than the others.
prepare() { # letter
  local rows='' cols='' count=0 p q
  for p in $(seq "$ranks"); do
    for q in $(seq "$ranks"); do
      [ $((p * q)) -le "$ranks" ] && [ $((p * q)) -ge $(((ranks + 1) / 2)) ] &&
        { rows+="$p " cols+="$q " count=$((count + 1)); }
    done
  done
  sed -e "s/^.*\tnumber of process grids.*/$count\tgrids/" -e "s/^.*values of P\$/$rows\tvalues of P/" \
    -e "s/^.*values of Q\$/$cols\tvalues of Q/" \
    -e 's/^4\t*number of tests problems/8\tproblems/' \
    -e 's/^.*\(values of IMB_[AC]\)/ 2  5  1  3  1  1  3  2\t\1/' \
    -e 's/^.*\(values of INB_[BC]\)/ 3  1  6  2  2  1  4  1\t\1/' "$inputs/P${1}BLAS3TST.dat" \
    >"P${1}BLAS3TST.dat"
  case $1 in C | Z) sed -i "s/^.*values of TRANSB/'N' 'C' 'T' 'T' 'C' 'N' 'T' 'C'\tvalues of TRANSB/" "P${1}BLAS3TST.dat" ;; esac
}

# Prints the number of the log's lines that name tesela as the library of a routine's call.
by_tesela() { grep -c "^tesela calls: $1 .*: tesela, " log || true; }

failed=0
for type in "$@"; do
  upper=${type^^}
  prepare "$upper"
  run_ranks "$ranks" -x LD_PRELOAD="$library" -x TESELA_SCALAPACK=tesela -x TESELA_LOG=calls \
    "$programs/${type}pb3tst" >output 2>log ||
    { tail -n 20 output log; failed=1; }
  # | PDGEMM  total  passed  failed  skipped
  read -r total passed bad skipped < <(awk -v name="P${upper}GEMM" '$2 == name {print $3, $4, $5, $6}' \
    output) || true
  others=$(awk '$1 == "|" && $5 > 0' output; grep -E 'check: .*FAILED' output) || true
  gemm=$(by_tesela "p${type}gemm_") geadd=$(by_tesela "p${type}geadd_")
  echo "$ranks ranks, p${type}gemm: ${total:-no} tests, ${passed:-none} passed; by tesela: $gemm products, $geadd transposes"
  if [ "${total:-0}" = 0 ] || [ "$passed" != "$total" ] || [ "$bad$skipped" != 00 ] || [ -n "$others" ] ||
    [ "$gemm" != "$total" ] ||
    [ $((geadd * 2)) -lt "$total" ]; then
    echo "p${type}: not all passed, or not all by tesela:"
    grep '|' output || true
    grep -v ': tesela, ' log | grep -v ' 1 x 1' | sort | uniq -c | sort -rn | head -n 10
    failed=1
  fi
done
exit "$failed"
