#!/usr/bin/env bash
# Compares the library's binary interface with the committed one, by libabigail.
#
#   ci/abi.sh [--write] BINARY_FOLDER SCRATCH_FOLDER [COMPILER]
#
# Libabigail reads types from debugging information, so src/api is compiled again with it. Functions may be
# added. Structs that carry their sizes may grow at their ends (ci/abi/grows.ini). Any other change is a
# failure. --write records the present interface.
set -euo pipefail
write=
if [ "${1:-}" = --write ]; then
  write=yes
  shift
fi
binary=$1 scratch=$2 compiler=${3:-cc}
source=$(cd "$(dirname "$0")/.." && pwd)
baseline=$source/ci/abi/tesela.abi
rm -rf "$scratch"
mkdir -p "$scratch"
for file in "$source"/src/api/*.c "$source/src/core/status.c"; do
  echo "$file"
done | xargs -P 2 -I{} sh -c \
  'exec "$0" -std=c11 -g -O0 -fPIC -fvisibility=hidden -D_GNU_SOURCE "$@" -c {} -o '"$scratch"'/$(basename {} .c).o' \
  "$compiler" -I "$source/include" -I "$binary/include" -I "$source/src" -I "$binary/src" -I "$binary"
read -ra libraries <<<"${ABI_LIBRARIES:-}"
"$compiler" -shared -Wl,-soname,libtesela.so.2 -o "$scratch/libtesela.so" "$scratch"/*.o \
  "$binary/lib/libtesela_internal.a" "${libraries[@]}" -lpthread -ldl -lm
abidw --headers-dir "$source/include/tesela" --drop-private-types --no-corpus-path --no-comp-dir-path \
  --no-show-locs "$scratch/libtesela.so" | sed "s|$source/||g" >"$scratch/tesela.abi"
if [ -n "$write" ]; then
  cp "$scratch/tesela.abi" "$baseline"
  echo "$baseline holds the present interface"
  exit 0
fi
if abidiff --no-added-syms --suppressions "$source/ci/abi/grows.ini" "$baseline" "$scratch/tesela.abi" \
  >"$scratch/report.txt"; then
  echo "the interface equals $(basename "$baseline"), or extends it"
else
  cat "$scratch/report.txt"
  echo "the binary interface has changed: programs that were built before would break. If this is wanted," \
    "raise TESELA_ABI in CMakeLists.txt and run ci/abi.sh --write $binary $scratch" >&2
  exit 1
fi
