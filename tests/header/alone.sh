#!/usr/bin/env bash
# The public header alone, with every warning an error, in the languages of its users:
#     alone.sh c|c++ SOURCE_FOLDER BINARY_FOLDER SCRATCH_FOLDER
# For each program, a copy with a mistake must not compile: the test can fail.
set -euo pipefail
language=$1 source=$2 binary=$3 scratch=$4
here=$source/tests/header
flags=(-I "$source/include" -I "$binary/include" -pedantic -Wall -Wextra -Wshadow -Wundef -Werror
  -x "$language" -c)
if [ "$language" = c ]; then
  compilers=(cc gcc clang) standards=(c99 c11)
  flags+=(-Wstrict-prototypes)
else
  compilers=(c++ g++ clang++) standards=(c++11 c++17 c++20)
  flags+=(-Wold-style-cast)
fi
mkdir -p "$scratch"
cp "$here/alone.c" "$scratch/wrong.c"
echo 'int wrong(void) { return TESELA_NO_SUCH_STATUS; }' >>"$scratch/wrong.c"

used=0
for compiler in "${compilers[@]}"; do
  if ! command -v "$compiler" >/dev/null; then
    echo "$compiler: not here"
    continue
  fi
  for standard in "${standards[@]}"; do
    "$compiler" -std="$standard" "${flags[@]}" "$here/alone.c" -o "$scratch/alone.o"
    if "$compiler" -std="$standard" "${flags[@]}" "$scratch/wrong.c" -o "$scratch/wrong.o" 2>/dev/null; then
      echo "$compiler -std=$standard takes a program that is wrong" >&2
      exit 1
    fi
    echo "$compiler -std=$standard: takes the header"
    used=$((used + 1))
  done
done
if [ $used = 0 ]; then
  echo "skipped: there is no compiler for $language (looked for ${compilers[*]})"
  exit 77
fi
