#!/usr/bin/env bash
# Programs and libraries of different ages:
#     grown.sh SOURCE_FOLDER BINARY_FOLDER SCRATCH_FOLDER COMPILER [FLAG...]
# Makes a later header, in which every struct that may grow has another field at its end. Makes a library of
# that age: src/api compiled with the later header, the rest from this build. Then a program of each age runs
# with a library of each age. The check ci/abi tests that structs inside other structs do not grow.
set -euo pipefail
source=$1 binary=$2 scratch=$3 compiler=$4
flags=("${@:5}")
here=$source/tests/growth
grows=(tesela_context_desc tesela_gemm_desc tesela_batch tesela_dot_desc tesela_transpose_desc
  tesela_solve_desc tesela_operands tesela_record tesela_device
  tesela_plan_info)
rm -rf "$scratch"
mkdir -p "$scratch/include/tesela" "$scratch/objects" "$scratch/later"
cp "$source"/include/tesela/*.h "$binary"/include/tesela/version.h "$scratch/include/tesela/"
for name in "${grows[@]}"; do
  sed -i "s/^} $name;/  double of_a_later_version[3];\n&/" "$scratch"/include/tesela/*.h
done
[ "$(cat "$scratch"/include/tesela/*.h | grep -c of_a_later_version)" = ${#grows[@]} ] ||
  { echo "not every struct has grown" >&2; exit 1; }

for file in "$source"/src/api/*.c; do
  echo "$file"
done | xargs -P 2 -I{} sh -c \
  'exec "$0" -std=c11 -O1 -fPIC -fvisibility=hidden -D_GNU_SOURCE "$@" -c {} -o '"$scratch"'/objects/$(basename {} .c).o' \
  "$compiler" "${flags[@]}" -I "$scratch/include" -I "$source/src" -I "$binary/src" -I "$binary"
real=$(readlink -f "$binary/lib/libtesela.so")
soname=$(readelf -d "$real" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
"$compiler" "${flags[@]}" -shared -Wl,-soname,"$soname" -o "$scratch/later/$soname" "$scratch"/objects/*.o \
  "$binary/lib/libtesela_internal.a" \
  -lpthread -ldl -lm

"$compiler" -std=c11 "${flags[@]}" -I "$source/include" -I "$binary/include" "$here/program.c" \
  -o "$scratch/program" "$real"
"$compiler" -std=c11 "${flags[@]}" -DTESELA_TEST_GROWN -I "$scratch/include" "$here/program.c" \
  -o "$scratch/later_program" "$real"
export TESELA_WISDOM=none TESELA_DEVICE=cpu
LD_LIBRARY_PATH=$(dirname "$real") "$scratch/program" same
LD_LIBRARY_PATH=$scratch/later "$scratch/program" newer
LD_LIBRARY_PATH=$(dirname "$real") "$scratch/later_program" older
LD_LIBRARY_PATH=$scratch/later "$scratch/later_program" same
echo "programs of two ages ran with libraries of two ages"
