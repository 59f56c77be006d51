#!/usr/bin/env bash
# A program, unchanged, with and without the drop-in: the same results within bounds, and tesela computed some of them:
#   programs.sh TESELA RESULTS_SCRIPT INTERPRETER [ARGUMENTS]
# The script prints a line a result: its name, which begins with its type (f32, f64, c64, c128), and its numbers.
set -euo pipefail
tesela=$1 script=$2
shift 2
command -v "$1" >/dev/null || { echo "skipped: $1 is not installed"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$@" "$script" >without.txt
"$tesela" run --log -- "$@" "$script" >with.txt 2>calls.txt
# Differences are measured by the largest number of their line; hundreds of roundings of its type are allowed.
awk '
  function magnitude(x) { return x < 0 ? -x : x }
  NR == FNR { count[$1] = NF; for (i = 2; i <= NF; i++) expected[$1, i] = $i; next }
  {
    largest = worst = 0
    results++
    if (count[$1] != NF || NF < 2 || tolower($0) ~ / -?nan/) { print "FAILED: " $1 " lacks numbers"; bad = 1; next }
    for (i = 2; i <= NF; i++) {
      if (magnitude(expected[$1, i]) > largest) largest = magnitude(expected[$1, i])
      if (magnitude($i - expected[$1, i]) > worst) worst = magnitude($i - expected[$1, i])
    }
    if (worst > 400 * ($1 ~ /^(f32|c64)/ ? 2^-24 : 2^-53) * largest) {
      printf "FAILED: %s differs by %g where the largest number is %g\n", $1, worst, largest
      bad = 1
    }
  }
  END {
    if (results < 10) { print "FAILED: " results + 0 " results"; bad = 1 }
    if (!bad) print results " results agree"
    exit bad
  }
' without.txt with.txt
grep -qE '^dgemm_ .* tesela [a-z_]+ cpu ' calls.txt || { echo "FAILED: tesela computed no dgemm:"; cat calls.txt; exit 1; }
