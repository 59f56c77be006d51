#!/usr/bin/env bash
# Runs the ```sh blocks of documents, in order, inside one scratch copy of the source tree.
#
#   ci/run_document.sh docs/ADD_AN_INSTRUCTION_SET.md docs/ADD_A_DEVICE.md docs/ADD_A_STRATEGY.md
#
# So CI has run each command that the documents show. Each document has a shell of its own and finds the files
# and builds of the document before.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$root/build/document
rm -rf "$scratch"
mkdir -p "$scratch"
(cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$scratch")
cd "$scratch"
# Nothing is timed here, so everything is compiled without optimisation.
sed -i 's/^set(TESELA_FULL_OPTIMISATION -O3)$/set(TESELA_FULL_OPTIMISATION -O0)/' cmake/isa.cmake
grep -q "^set(TESELA_FULL_OPTIMISATION -O0)" cmake/isa.cmake
sed -i 's/"CMAKE_BUILD_TYPE": "Release"/&, "CMAKE_C_FLAGS_RELEASE": "-O0 -DNDEBUG"/' CMakePresets.json
grep -q '"Release", "CMAKE_C_FLAGS_RELEASE": "-O0 -DNDEBUG"' CMakePresets.json
for document in "${@:?the documents}"; do
  script=$scratch/.commands.sh
  sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$root/$document" >"$script"
  [ -s "$script" ] || { echo "ci/run_document.sh: $document has no \`\`\`sh block" >&2; exit 2; }
  begin=$SECONDS
  TESELA_CACHE_DIR=$scratch/cache TESELA_WISDOM=none bash -euxo pipefail "$script" ||
    { echo "ci/run_document.sh: a command of $document failed" >&2; exit 1; }
  echo "$document: $((SECONDS - begin)) s"
done
rm -rf "$scratch"
