#!/usr/bin/env bash
# ahead.sh TESELA CALLS: TESELA_DEVICE=auto with threads makes plans for other devices in the background. A
# record makes PoCL the faster device, as in device.sh. The processor computes first calls, the device later
# calls. Exits, forks and compiler failures in the middle of the planning harm no call.
set -euo pipefail
tesela=$1 calls=$2
unset TESELA_DEVICE TESELA_LOG
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export TESELA_WISDOM=$scratch/wisdom TESELA_ISA=generic TESELA_THREADS=2 TESELA_CACHE_DIR=$scratch/cache
"$tesela" devices | grep -q '^opencl:0' || { echo "skipped: there is no opencl:0"; exit 77; }
"$tesela" tune 8 512 480 --type f64 --device opencl:0 --strategy element --points 1 --budget 60s >tuned.txt ||
  { cat tuned.txt; exit 1; }
sed -E 's/seconds=[^ ]* spread=[^ ]*/seconds=5e-5 spread=0.01/' wisdom >faster
mv faster wisdom
word=dgemm:8x512x480
fail() { echo "FAILED: $1"; tail -20 log.txt; head -3 out.txt; exit 1; }
export TESELA_DEVICE=auto

# One thread waits for the plan: all calls are the device's.
TESELA_THREADS=1 "$calls" $word >one.txt
grep -q ' tesela ' one.txt || fail "one thread does not wait"

# Others do not: the first call is the other library's, the last the device's, with the same bits.
TESELA_LOG=plan "$calls" "$word" until:8x512x480 "$word" >out.txt 2>log.txt || fail "the calls failed"
head -1 out.txt | grep -q ' other ' || fail "the first call waited"
tail -1 out.txt | cmp - one.txt || fail "the last call is not the device's"
grep -q 'goes to another device from now on' log.txt || fail "the log does not say so"

# The calling thread or another thread exits: while drivers are loaded, while the link is measured, or while
# the compiler runs (its cache folder is empty).
for who in dgemm aside; do
  for wait in 0 5 10 15 20 30 40 60 80 120; do
    rm -rf cache
    TESELA_LOG=plan timeout 60 "$calls" $who:8x512x480 wait:$wait >out.txt 2>log.txt ||
      fail "the end $wait ms after $who failed with $?"
    head -1 out.txt | grep -q ' other ' || fail "the only call waited"
  done
done

# A fork in the middle of it: parent and child end well.
rm -rf cache
timeout 60 "$calls" $word fork:8x512x480 $word fork:8x512x480 >out.txt 2>log.txt ||
  fail "a fork failed with $?"

# A kernel that does not compile leaves its product on the processor, and the log has the reason.
rm -rf cache
mkdir -p empty
words=()
for ((i = 0; i < 200; i++)); do words+=("$word" wait:5); done
TESELA_KERNEL_DIR=$scratch/empty TESELA_LOG=plan timeout 60 "$calls" "${words[@]}" >out.txt 2>log.txt ||
  fail "calls failed with $?"
grep -q 'is skipped' log.txt || fail "the log does not say what failed"
! grep -q 'another device from now on' log.txt || fail "a device without kernels was chosen"
