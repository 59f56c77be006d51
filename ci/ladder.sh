#!/usr/bin/env bash
# Prints docs/LADDER.md: the tool's strategies and their rates in the committed results.
#   ci/ladder.sh [TESELA] >docs/LADDER.md
set -euo pipefail
tesela=$(realpath "${1:-build/release/bin/tesela}")
cd "$(dirname "$0")/.."
results=$(find bench/results -name 'ladder-*.json' | LC_ALL=C sort | paste -sd, -)
exec "$tesela" strategies --markdown ${results:+--results "$results"}
