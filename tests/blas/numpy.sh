#!/usr/bin/env bash
# NumPy, unchanged, with and without the drop-in: the same results within bounds, and the calls were served:
#   numpy.sh TESELA FOLDER_OF_THIS
set -euo pipefail
tesela=$1 here=$2
/usr/bin/python3 -c 'import numpy' 2>/dev/null ||
  { echo "skipped: needs NumPy (Debian: python3-numpy)"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
/usr/bin/python3 "$here/numpy_results.py" without.npz
"$tesela" run --log -- /usr/bin/python3 "$here/numpy_results.py" with.npz 2>calls.txt
/usr/bin/python3 "$here/numpy_results.py" --compare without.npz with.npz
check() { grep -qE "$1" calls.txt || { echo "FAILED: the table lacks: $1"; cat calls.txt; exit 1; }; }
check '^tesela: BLAS calls of python3 \(process [0-9]+\)$'
for routine in sgemm dgemm; do check "^cblas_$routine .* tesela [a-z_]+ cpu "; done
# Where the distribution's NumPy has a BLAS at all, it still has the small ones.
check '^cblas_dgemm +4 x 4 x 4 '
