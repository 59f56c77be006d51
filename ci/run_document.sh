#!/usr/bin/env bash
# Runs the ```sh blocks of a document, in order and in one shell, inside a scratch copy of the source tree:
#   ci/run_document.sh docs/ADD_A_STRATEGY.md
# So what the document tells people to type is what CI has seen working.
set -euo pipefail
document=$1
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$root/build/document
rm -rf "$scratch"
mkdir -p "$scratch"
(cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$scratch")
script=$scratch/.commands.sh
sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$root/$document" >"$script"
[ -s "$script" ] || { echo "ci/run_document.sh: $document has no \`\`\`sh block" >&2; exit 2; }
cd "$scratch"
TESELA_CACHE_DIR=$scratch/cache TESELA_WISDOM=none bash -euxo pipefail "$script"
rm -rf "$scratch"
