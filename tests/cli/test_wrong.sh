#!/usr/bin/env bash
# A kernel with a mistake: multiply, check and explore all see it, say so, and exit with 1.
. "$(dirname "$0")/helper.sh"
device=$(kernel_devices | head -1)
[ -n "$device" ] || skip "needs a device that compiles kernels (Debian: pocl-opencl-icd)"
matrix a.npy 60x70
matrix b.npy 70x50
matrix c0.npy 60x50
tesela 0 multiply a.npy b.npy --device "$device" --strategy element --verify -o right.npy

# A copy of the source tree, in which one kernel adds 1 to every sum.
mkdir tree
cp -r "$TESELA_SOURCE/src" tree/src
kernel=tree/src/strategy/gemm/ladder/element/element.cl
grep -q 'sum, g.alpha' $kernel || fail "the test no longer fits the kernel, whose last line it changes"
sed -i 's/sum, g.alpha/sum + 1, g.alpha/' $kernel
export TESELA_KERNEL_DIR=$PWD/tree TESELA_SELFTEST=0

echo old >old.npy
tesela 1 multiply a.npy b.npy --device "$device" --strategy element --verify -o old.npy
says 'the product is wrong' 'C('
prints 'WRONG: 3000 of 3000 elements, largest error'
[ "$(cat old.npy)" = old ] || fail "a wrong product replaced the older file"
tesela 1 multiply a.npy b.npy --device "$device" --strategy element --verify -o new.npy --memory 60KiB --json
json 'not j["verified"]["right"] and j["output"] is None'
json 'j["verified"]["elements_wrong"] == j["verified"]["elements_checked"] > 0'
absent new.npy
tesela 1 multiply a.npy b.npy --device "$device" --strategy element --expect right.npy -o new.npy
says 'differs from right.npy'
absent new.npy
# The library itself looks where it is to measure: by the option, by the environment, in blocks.
tesela 1 multiply a.npy b.npy --device "$device" --strategy element --measure-error -o old.npy
says 'element on' 'is outside of its error bound' 'C('
prints 'largest error seen' 'of |A||B| in all elements (bound'
[ "$(cat old.npy)" = old ] || fail "a wrong product replaced the older file"
TESELA_MEASURE_ERROR=7 tesela 1 multiply a.npy b.npy --device "$device" --strategy element -o new.npy \
  --memory 60KiB --json
json 'j["measured"]["largest_error"] > j["error_bound"] and j["output"] is None'
absent new.npy
# Without the self-test and --verify, the result is not checked.
tesela 0 multiply a.npy b.npy --device "$device" --strategy element -o unchecked.npy

tesela 1 check --device "$device" --strategy element,tile_local --type f32 --cases 3
says 'wrong'
prints 'WRONG: element' 'again  tesela check --strategy "gemm element' 'case   m='
tail -1 "$out" | grep -qE '^[1-9][0-9]* right, [1-9][0-9]* wrong' || fail "the last line is not the sum"
command=$(sed -n 's/^  again  tesela //p' "$out" | head -1)
run 1 bash -c "\"\$TESELA\" $command"
prints 'WRONG: element'
tesela 1 check --device "$device" --strategy element --type f32 --cases 1 --json
json 'j["wrong"] > 0 and j["faults"][0]["kind"] == "wrong"
  and j["faults"][0]["command"].startswith("tesela check")'
tesela 1 explore --devices "$device" --strategies element,tile_local --sizes 32 --types f32 --seconds 0.01
prints WRONG
says element wrong

TESELA_SELFTEST=no tesela 2 devices
says 'TESELA_SELFTEST is "no"'

# With the self-test, no wrong result is returned.
unset TESELA_SELFTEST
export TESELA_CACHE_DIR=$PWD/cache
for memory in 1MiB 60KiB; do
  tesela 1 multiply a.npy b.npy --device "$device" --strategy element -o new.npy --memory $memory
  says 'element' 'failed its self-test'
  absent new.npy
done
tesela 1 explain 60 50 70 --device "$device" --strategy element
prints 'none: element on' 'failed its self-test'
[ "$(grep -c '^wrong .* gemm element' cache/trials)" = 1 ] ||
  fail "the trial was not remembered, or made twice"
unset TESELA_KERNEL_DIR
tesela 0 multiply a.npy b.npy --device "$device" --strategy element -o new.npy
same right.npy new.npy
grep -q '^right .* gemm element' cache/trials || fail "the trial was not remembered"
tesela 0 cache clear
absent cache/trials
tesela 0 multiply a.npy b.npy --device "$device" --strategy element --verify --expect right.npy
