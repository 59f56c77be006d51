#!/usr/bin/env bash
# device.sh TESELA CALLS: TESELA_DEVICE in the drop-in. Unset, every call runs on the processor. auto sends a
# call to a faster device, also a call that the processor's other BLAS would compute. A record makes PoCL
# faster than plain C on one thread. The test asserts the choice, not a time.
set -euo pipefail
tesela=$1 calls=$2
unset TESELA_DEVICE TESELA_LOG
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export TESELA_WISDOM=$scratch/wisdom TESELA_ISA=generic TESELA_THREADS=1
"$tesela" devices | grep -q '^opencl:0' || { echo "skipped: there is no opencl:0"; exit 77; }
for sizes in '120 500 480' '8 512 480'; do
  "$tesela" tune $sizes --type f64 --device opencl:0 --strategy element --points 1 --budget 60s >tuned.txt ||
    { cat tuned.txt; exit 1; }
done
# 40 GFLOP/s: a plausible rate of PoCL on an idle machine.
awk '{ for (i = 1; i <= NF; i++) { split($i, of, "="); if (of[1] ~ /^[mnk]$/) size[of[1]] = of[2] }
  sub(/seconds=[^ ]*/, "seconds=" 2 * size["m"] * size["n"] * size["k"] / 40e9); sub(/spread=[^ ]*/, "spread=0.01"); print }' wisdom >faster
mv faster wisdom

words=(dgemm:120x500x480 dgemm:8x512x480 dgemm:4x4x4 ddot:100)
fail() { echo "FAILED: $1"; cat table.txt wisdom; exit 1; }
who() { grep -qE "^cblas_$1 +$2 +1  $3 " table.txt || fail "$1 of $2 is not by $3"; }

TESELA_LOG=calls "$calls" "${words[@]}" >here.txt 2>table.txt
who dgemm '120 x 500 x 480' 'tesela host_[a-z]+ cpu'
who dgemm '8 x 512 x 480' 'libblas_other\.so'
who dgemm '4 x 4 x 4' 'tesela host_small cpu'

TESELA_DEVICE=auto TESELA_LOG=calls "$calls" "${words[@]}" >heard.txt 2>table.txt
who dgemm '120 x 500 x 480' 'tesela [a-z_]+ opencl:0'
who dgemm '8 x 512 x 480' 'tesela [a-z_]+ opencl:0'
who dgemm '4 x 4 x 4' 'tesela host_small cpu'
who ddot 100 'tesela'
TESELA_DEVICE=auto "$calls" "${words[@]}" >there.txt
cmp heard.txt there.txt || fail "listening changes results"

# With the other library alone, and where a call comes from inside another one, nothing leaves.
TESELA_BLAS=other TESELA_DEVICE=auto "$calls" "${words[@]}" >other.txt
[ "$(grep -c ' other ' other.txt)" = 4 ] || fail "TESELA_BLAS=other"

# By the tool's option, through the variable.
TESELA_LOG=calls "$tesela" run --device auto -- "$calls" dgemm:120x500x480 >there.txt 2>table.txt
who dgemm '120 x 500 x 480' 'tesela [a-z_]+ opencl:0'
