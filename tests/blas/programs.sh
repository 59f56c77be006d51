#!/usr/bin/env bash
# Runs a program, unchanged, with and without the drop-in. Results agree within bounds, and tesela computes at
# least one:
#     programs.sh TESELA RESULTS_SCRIPT INTERPRETER [ARGUMENTS]
# The script prints a line for each result: its name, which begins with its type (f32, f64, c64, c128), and
# its numbers.
set -euo pipefail
tesela=$1 script=$2 here=$(dirname "$(realpath "$0")")
shift 2
command -v "$1" >/dev/null || { echo "skipped: $1 is not installed"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$@" "$script" >without.txt
"$tesela" run --log -- "$@" "$script" >with.txt 2>calls.txt
awk -f "$here/agree.awk" without.txt with.txt
grep -qE '^dgemm_ .* tesela [a-z_]+ cpu ' calls.txt ||
  { echo "FAILED: tesela computed no dgemm:"; cat calls.txt; exit 1; }
