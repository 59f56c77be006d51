#!/bin/sh
# shorten.sh PROGRAM LIBRARY FILES OUTPUT: shortens the header and the libraries that PoCL's compiler reads.
# The originals are in the folder FILES. The short files have the functions that texts of this repository
# name. PROGRAM is made of shorten.c, and LIBRARY is libpocl. Names are compared without a number at the end,
# because kernels join vload and a length.
set -eu
program=$1 library=$2 files=$3 output=$4
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
{
  find src tools -name '*.cl' -o -name '*.h'
  grep -rl __kernel docs tests tools
  echo tests/mutants/kernels.txt
} | sort -u | xargs grep -ohE '[a-z_][a-z0-9_]*' | sed 's/[0-9]*$//' | LC_ALL=C sort -u >"$scratch/words"
# A declaration of one line ends with ");". All other lines stay.
awk 'NR == FNR { known[$1] = 1; next }
     /^[a-z].*\);$/ {
       text = $0
       gsub(/__attribute__\(\([^)]*\)\)/, "", text)
       match(text, /[a-z_0-9]+\(/)
       name = substr(text, RSTART, RLENGTH - 1)
       sub(/[0-9]+$/, "", name)
       if (RSTART > 0 && !(name in known)) next
     }
     { print }' "$scratch/words" "$files/include/opencl-c.h" >"$scratch/opencl-c.h"
# These replace links to PoCL's own files, so they are moved here complete.
mv -f "$scratch/opencl-c.h" "$output/include/opencl-c.h"
for functions in "$files"/kernel-*-avx2.bc "$files"/kernel-*-avx512.bc; do
  [ -e "$functions" ] || continue
  "$program" "$library" "$scratch/words" "$functions" "$scratch/short.bc" || exit 0
  mv -f "$scratch/short.bc" "$output/${functions##*/}"
done
