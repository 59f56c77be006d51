#!/usr/bin/env bash
# Prints docs/LADDER.md: the strategies of the tool, and what they reached in the results that are committed.
#   ci/ladder.sh [TESELA] >docs/LADDER.md
set -euo pipefail
tesela=$(realpath "${1:-build/release/bin/tesela}")
cd "$(dirname "$0")/.."
results=$(find bench/results -name 'ladder-*.json' | LC_ALL=C sort | paste -sd, -)
exec "$tesela" strategies --markdown ${results:+--results "$results"}
