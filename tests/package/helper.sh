# Functions shared by this folder's scripts, whose arguments are SOURCE_FOLDER BINARY_FOLDER SCRATCH_FOLDER.
set -euo pipefail
source=$1 binary=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
cached() { sed -n "s/^$1:[A-Z]*=//p" "$binary/CMakeCache.txt"; }
prefix=$(cached CMAKE_INSTALL_PREFIX)
libraries=$(cached CMAKE_INSTALL_LIBDIR)
configuration=$(cached CMAKE_BUILD_TYPE | tr '[:upper:]' '[:lower:]')
version=$(sed -n 's/^project(tesela VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# expect_files LIST [NAME...]: LIST has the names of files.txt and NAMEs, one a line, and otherwise only
# documents.
expect_files() {
  local list=$1
  shift
  sed "s|^lib/|$libraries/|; s|VERSION|$version|; s|^\(.*cmake/tesela/teselaTargets-\)release|\1$configuration|" \
    "$source/tests/package/files.txt" >"$scratch/expected"
  printf '%s\n' "$@" >>"$scratch/expected"
  grep -vE '^share/doc/tesela/(docs|examples)/' "$list" |
    diff <(sort "$scratch/expected") <(sort /dev/stdin) ||
    fail "the files (>) are not those that are listed (<)"
  [ "$(grep -cE '^share/doc/tesela/(docs|examples)/' "$list")" -gt 20 ] ||
    fail "documents and examples are missing"
}
# expect_text WHAT TEXT PATTERN
expect_text() {
  grep -qE -- "$3" <<<"$2" || fail "$1 does not say '$3': $2"
}
