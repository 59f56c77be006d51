#!/usr/bin/env bash
# Runs twenty products and two dots with bits=devices on each named device. On the cpu each instruction set
# runs them with one and two threads. Prints a SHA-256 of each result, and the places that differ.
#   ci/device_bits.sh TESELA [DEVICE...]     (build/release/bin/tesela opencl:0)
# Exit code 1: bits differ.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
tesela=$(readlink -f "$1")
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export TESELA_WISDOM=none
differs=0 count=0 places=0

# hash ENVIRONMENT... -- ARGUMENT...: of the result's file.
hash() {
  local settings=()
  while [ "$1" != -- ]; do
    settings+=("$1")
    shift
  done
  shift
  rm -f c.npy
  env "${settings[@]}" "$tesela" "$@" -o c.npy --bits devices --quiet || return 1
  sha256sum c.npy | cut -d' ' -f1
}

# everywhere NAME ARGUMENT...
everywhere() {
  local name=$1 first= isa threads device one
  shift
  places=0
  while read -r where threads device; do
    one=$(hash "TESELA_ISA=$where" "TESELA_THREADS=$threads" -- "$@" --device "$device") ||
      { echo "$name: nothing on $device, $where" >&2; exit 3; }
    first=${first:-$one}
    places=$((places + 1))
    if [ "$one" != "$first" ]; then
      echo "$name: $one on $device with $where and $threads threads" >&2
      differs=1
    fi
  done <<<"$placed"
  count=$((count + 1))
  printf '%-34s %s\n' "$name" "$first"
}

# A set that the processor lacks falls back to a lower set. The first device's capabilities show which it has.
placed= sets=
while read -r isa what; do
  can=$(env TESELA_ISA="$isa" "$tesela" devices --json 2>/dev/null |
    sed '/"kind": "opencl"\|"kind": "cuda"/,$d') || can=
  if [ -z "$can" ] || { [ "$isa" != generic ] && ! grep -qF "\"$what" <<<"$can"; }; then
    echo "not here: $isa"
    continue
  fi
  sets+=" $isa"
  for threads in 1 2; do placed+="$isa $threads cpu"$'\n'; done
done <<'END'
generic
avx2 AVX2
avx512 AVX-512 (F,
avx512_vnni AVX-512 VNNI
amx AMX
neon AArch64's Advanced SIMD
END
for device in "$@"; do placed+="avx512 2 $device"$'\n'; done
placed=${placed%$'\n'}

product() { # TYPE M N K DISTRIBUTION ARGUMENT...
  local type=$1 m=$2 n=$3 k=$4 draw=$5 stored=f64
  shift 5
  [ "${type#c}" = "$type" ] || stored=c128
  "$tesela" generate "${m}x$k" -o a.npy --type $stored --distribution "$draw" --seed "$m" --quiet
  "$tesela" generate "${k}x$n" -o b.npy --type $stored --distribution "$draw" --seed "$n" --quiet
  "$tesela" generate "${m}x$n" -o c0.npy --type $stored --distribution "$draw" --seed "$k" --quiet
  everywhere "$type ${m}x${n}x$k $draw${*:+ }$*" multiply a.npy b.npy --type "$type" "$@"
}

for type in f32 f64; do
  product $type 64 64 64 normal
  product $type 33 17 129 graded
  product $type 1 50 1000 graded
  product $type 40 40 40 graded --alpha 0.3 --add c0.npy --beta -0.7
  product $type 128 96 257 uniform
done
product bf16:f32 50 60 70 graded
product bf16 50 60 70 normal
product f16:f32 50 60 70 normal
product f16 31 33 35 normal --alpha 0.5
product i8 64 48 100 integer
product i8 7 9 5000 integer
product f32 300 2 300 graded --alpha 1e-30
product f64 90 3 77 graded --alpha -1e-300
product c64 40 50 60 normal
product c128 33 35 37 graded --alpha 0.5
for type in f32 f64; do
  "$tesela" generate 100000x1 -o a.npy --type $type --distribution graded --seed 3 --quiet
  "$tesela" generate 100000x1 -o b.npy --type $type --distribution graded --seed 4 --quiet
  everywhere "$type dot 100000 graded" dot a.npy b.npy
done
echo "$count results, $places places each: cpu with$sets${*:+, }$*"
exit $differs
