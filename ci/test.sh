#!/usr/bin/env bash
# Runs CTest and adds why tests were skipped, which CTest keeps in its log:
#   ci/test.sh PRESET [CTest's arguments]
set -uo pipefail
preset=$1
shift
ctest --preset "$preset" "$@"
status=$?
reasons=$(awk '/^[0-9]+\/[0-9]+ Testing: / { name = $3 }
               /^skipped: /                { printf "  %-42s %s\n", name, substr($0, 10) }' "build/$preset/Testing/Temporary/LastTest.log")
[ -z "$reasons" ] || printf '\nWhat was skipped, and why:\n%s\n' "$reasons"
exit $status
