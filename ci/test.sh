#!/usr/bin/env bash
# Runs CTest and prints why tests were skipped, which CTest keeps in its log.
#   ci/test.sh PRESET [CTest's arguments]
set -uo pipefail
preset=$1
shift
# CTest starts the longest tests first and keeps their times in the build folder. A fresh build folder gets
# the known times.
costs=build/$preset/Testing/Temporary/CTestCostData.txt
if [ ! -e "$costs" ]; then
  mkdir -p "$(dirname "$costs")"
  { sed -n 's/^\([a-z0-9_-]\{1,\}\) \([0-9.]\{1,\}\)$/\1 1 \2/p' tests/seconds.txt; echo ---; } >"$costs"
fi
ctest --preset "$preset" "$@"
status=$?
reasons=$(awk '/^[0-9]+\/[0-9]+ Testing: / { name = $3 }
               /^skipped: /                { printf "  %-42s %s\n", name, substr($0, 10) }' \
                 "build/$preset/Testing/Temporary/LastTest.log")
[ -z "$reasons" ] || printf '\nWhat was skipped, and why:\n%s\n' "$reasons"
exit $status
