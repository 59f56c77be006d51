#!/usr/bin/env bash
# The reference's own testers of BLAS (Debian: libblas-test) with the drop-in preloaded:
#     testers.sh LIBRARY SCRATCH
# The testers of Fortran and CBLAS, of all four types, for levels 1, 2 and 3. They test values, and reports of
# wrong arguments. The CBLAS testers need the reference library too, whose variables they use.
set -euo pipefail
library=$1 scratch=$2
folder=$(ls -d /usr/lib/*/blas/xblat3s 2>/dev/null | head -n 1)
if [ -z "$folder" ]; then
  echo "skipped: needs the reference's testers (Debian: libblas-test)"
  exit 77
fi
folder=$(dirname "$folder")
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
failed=0

# one INPUT REPORT PASSES PROGRAM: at least PASSES parts pass, and the report has no other complaint.
one() {
  local input=$1 report=$2 passes=$3 code=0 program
  program=$(basename "$4")
  LD_LIBRARY_PATH=$folder LD_PRELOAD=$library "$4" <"$input" >"$program.out" 2>&1 || code=$?
  if [ $code != 0 ] || grep -qiE 'fail|fatal|wrong|suspect|\*\*\*' "$report" ||
    [ "$(grep -c PASS "$report")" -lt "$passes" ]; then
    echo "FAILED: $program, exit code $code:"
    tail -n 20 "$report"
    failed=1
  fi
}

for type in s d c z; do
  case $type in s | d) parts=12 cblas=18 two=16 ctwo=48 ;; *) parts=18 cblas=27 two=17 ctwo=51 ;; esac
  one /dev/null "xblat1$type.out" 5 "$folder/xblat1$type"
  one "$folder/${type}blat2.in" "${type}blat2.out" "$two" "$folder/xblat2$type"
  one "$folder/${type}in2" "x${type}cblat2.out" "$ctwo" "$folder/x${type}cblat2"
  one "$folder/${type}blat3.in" "${type}blat3.out" "$parts" "$folder/xblat3$type"
  one /dev/null "x${type}cblat1.out" 10 "$folder/x${type}cblat1"
  one "$folder/${type}in3" "x${type}cblat3.out" "$cblas" "$folder/x${type}cblat3"
done
# That the calls went through the drop-in at all.
TESELA_LOG=calls LD_PRELOAD=$library "$folder/xblat3d" <"$folder/dblat3.in" >/dev/null 2>calls.txt
for routine in dgemm_ dsymm_; do # the first of those that the table has room for
  grep -q "^$routine " calls.txt || { echo "FAILED: $routine was not called"; failed=1; }
done
[ $failed = 0 ] && echo "24 testers passed"
exit $failed
