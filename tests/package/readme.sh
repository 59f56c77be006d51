#!/usr/bin/env bash
# The packages in README.md's commands are the packages of ci/setup.sh, which the tests install and use.
. "$(dirname "$0")/helper.sh"
sed -n 's/^apt-get install \([^#]*\).*/\1/p' "$source/README.md" | tr -s ' ' '\n' | sed '/^$/d' |
  sort -u >"$scratch/named"
"$source/ci/setup.sh" --list build run python >"$scratch/needed"
[ -s "$scratch/needed" ] || fail "ci/setup.sh lists no packages"
diff "$scratch/needed" "$scratch/named" ||
  fail "README.md names (>) other packages than ci/setup.sh (<) for build, run and python"
