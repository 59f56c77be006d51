#!/bin/sh
# opencl_header.sh HEADER OUTPUT: copies the declarations of OpenCL's functions that texts of this repository
# name. It compares names without a number at the end, because kernels join vload and the length. A kernel
# with another function does not compile until the next build.
set -eu
cd "$(dirname "$0")/.."
words=$(mktemp)
trap 'rm -f "$words"' EXIT
{
  find src tools -name '*.cl' -o -name '*.h'
  grep -rl __kernel docs tests tools
  echo tests/mutants/kernels.txt
} | sort -u | xargs grep -ohE '[a-z_][a-z0-9_]*' | sed 's/[0-9]*$//' | sort -u >"$words"
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
     { print }' "$words" "$1" >"$2"
