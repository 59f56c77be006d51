#!/usr/bin/env bash
# lu.sh LIBRARY FOLDER: ScaLAPACK's own tester of LU factorizations, whose products read and write parts of
# one matrix, with the drop-in preloaded.
set -euo pipefail
library=$1 folder=$2
. "$(dirname "$0")/mpirun.sh"
program=$(echo /usr/lib/*/scalapack/openmpi-tests/xdlu)
[ -x "$program" ] ||
  { echo "ScaLAPACK's testers are not installed (Debian's scalapack-mpi-test): skipped"; exit 77; }
mkdir -p "$folder"
cd "$folder"
sed 's/^T\t*(T or F).*/F/' /usr/share/scalapack/LU.dat >LU.dat
run_ranks 4 -x LD_PRELOAD="$library" -x TESELA_SCALAPACK=tesela -x TESELA_LOG=calls "$program" >output \
  2>log || { tail -n 20 output log; exit 1; }
products=$(grep -c '^tesela calls: pdgemm_ .*: tesela, ' log) || true
grep 'tests completed' output
echo "$products products by tesela"
grep -q ' 0 tests completed and failed' output && grep -q ' 0 tests skipped' output && [ "$products" -gt 200 ]
