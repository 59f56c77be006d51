#!/usr/bin/env bash
# The recipes of packaging/, CITATION.cff and CHANGELOG.md have the version of CMakeLists.txt.
. "$(dirname "$0")/helper.sh"
# expect_version FILE PATTERN: the first match of PATTERN in FILE contains the version.
expect_version() {
  expect_text "$1" "$(grep -m 1 -E "$2" "$source/$1")" "(^|[^0-9.])$version([^0-9.]|$)"
}
expect_version CHANGELOG.md '^## [0-9]' # changes after a release stand above it: Unreleased
expect_version CITATION.cff '^version:'
expect_version packaging/conda/recipe.yaml '^  version:'
expect_version packaging/debian/changelog '^tesela '
expect_version packaging/nix/package.nix '^  version ='
expect_version packaging/spack/package.py '^    version\('
expect_version packaging/vcpkg/vcpkg.json '"version":'
