#!/usr/bin/env bash
# LAPACK's own test programs (Debian: liblapack-test) with the reference's BLAS, and again with the drop-in:
#     lapack.sh LIBRARY SCRATCH [FOLDER]
# FOLDER has the programs and their inputs, next to a folder `blas` with the reference (default: Debian's
# folder). Each program counts residuals below a threshold. Some residuals are close to it, and some tests
# compare the bits of two algorithms. Therefore a BLAS that rounds differently from the reference misses a few
# thresholds (docs/BLAS.md lists them). One in 500 of a run may be missed, and one in 100,000 in total. The
# drop-in must compute Level 3. The test takes some minutes: make test-lapack, not part of make test.
set -euo pipefail
library=$(realpath "$1") scratch=$2
programs=${3:-$(ls -d /usr/lib/*/lapack 2>/dev/null | head -n 1)}
if [ ! -x "$programs/xlintstd" ] || [ ! -e "$programs/liblapack.so.3" ] ||
  [ ! -e "$programs/../blas/libblas.so.3" ]; then
  echo "skipped: needs LAPACK's test programs, Netlib's LAPACK and BLAS (Debian: liblapack-test liblapack3 libblas3)"
  exit 77
fi
programs=$(realpath "$programs")
netlib=$programs:$programs/../blas:$(dirname "$programs"):$programs/..
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
failed=0
complain() { echo "FAILED: $*"; failed=1; }

# count FILE: thresholds passed, and not passed. A wrong error report or another complaint counts as one miss.
count() {
  awk '
    / tests run\)/ { n = $0; sub(/ tests run\).*/, "", n); sub(/.*[( ]/, "", n); passed += n }
    /out of .*tests failed/ { n = $0; sub(/ out of.*/, "", n); sub(/.*[: ]/, "", n); missed += n
                              n = $0; sub(/.* out of */, "", n); sub(/ .*/, "", n); of += n }
    /\*\*\*|[Ii]llegal|INFO *=|SIGSEGV|Error/ && !/passed/ { missed++ }
    END { print passed + of - missed, missed + 0 }' "$1"
}

# one NAME INPUT: both runs of a program.
one() {
  local name=$1 input=$programs/$2 run=$1-$2 code
  [ -e "$input" ] || return 0
  code=0
  LD_LIBRARY_PATH=$netlib "$programs/$name" <"$input" >"$run.reference" 2>&1 || code=$?
  [ $code = 0 ] || complain "$run ends with $code on the reference alone"
  code=0
  LD_LIBRARY_PATH=$netlib LD_PRELOAD=$library TESELA_BLAS=tesela "$programs/$name" <"$input" >"$run.tesela" \
    2>&1 || code=$?
  [ $code = 0 ] || complain "$run ends with $code with the drop-in"
  read -r passed missed < <(count "$run.reference")
  read -r ours lost < <(count "$run.tesela")
  printf '%-20s %8d passed, %2d not; reference %8d, %2d\n' "$run" "$ours" "$lost" "$passed" "$missed"
  [ $((500 * (passed - ours))) -le "$passed" ] && [ $((500 * (lost - missed))) -le "$passed" ] ||
    complain "$run: see $scratch/$run.tesela"
  [ "$passed" -gt 0 ] || complain "$run: nothing was counted"
  all=$((all + ours)) all_reference=$((all_reference + passed)) runs=$((runs + 1))
}

all=0 all_reference=0 runs=0
for type in s d c z; do
  one "xlintst$type" "${type}test.in"
  one "xlintstrf$type" "${type}test_rfp.in"
  for problem in nep sep se2 svd glm gqr gsv csd lse \
    ${type}ec ${type}ed ${type}gg ${type}gd ${type}sb ${type}sg ${type}bb; do
    one "xeigtst$type" "$problem.in"
  done
done
one xlintstds dstest.in
one xlintstzc zctest.in

# That Level 3 was the drop-in's.
for type in d z; do
  LD_LIBRARY_PATH=$netlib LD_PRELOAD=$library TESELA_BLAS=tesela TESELA_LOG=calls \
    "$programs/xlintst$type" <"$programs/${type}test.in" 2>&1 >/dev/null |
    grep -E "^${type}[a-z0-9]+_ " >"calls-$type.txt" || true
  for routine in gemm trsm trmm; do
    grep -q "^${type}${routine}_ .*tesela" "calls-$type.txt" ||
      complain "$type$routine was not the drop-in's: see $scratch/calls-$type.txt"
  done
done
[ "$runs" -gt 20 ] || complain "$runs runs only"
[ $((100000 * (all_reference - all))) -le "$all_reference" ] ||
  complain "$((all_reference - all)) thresholds fewer than with the reference"
echo "$runs runs: $all thresholds passed, with the reference alone $all_reference"
exit $failed
