#!/usr/bin/env bash
# The cache of compiled kernels: list, prefill, clear.
. "$(dirname "$0")/helper.sh"
export TESELA_CACHE_DIR=$scratch/cache
tesela 0 cache list
prints "0 kernels, 0 B, in $scratch/cache"
device=$(kernel_devices | head -1)
[ -n "$device" ] || skip "needs a device that compiles kernels (Debian: pocl-opencl-icd)"

tesela 0 cache prefill --device "$device" --strategy tile_local --type f32
prints '3 compiled, 0 there already, 3 self-tested'
tesela 0 cache prefill --device "$device" --strategy tile_local --type f32 --json
json 'j["compiled"] == 0 and j["there_already"] == 3 and j["self_tested"] == 0 and j["failures"] == []'
tesela 0 explain 100 100 100 --device "$device" --strategy tile_local --json
json 'j["first_call"]["self_tested"]
  and j["first_call"]["compiler_seconds"] == j["first_call"]["self_test_seconds"] == 0'
tesela 0 cache list --json
json 'j["count"] == 3 and j["self_tests_right"] == 3 and all(e["name"] == "gemm/tile_local"
  and not e["damaged"] and e["bytes"] > 0 for e in j["entries"])'
tesela 0 cache prefill --device "$device" --strategy 'element columns=16 rows=16' --threads 1
prints '2 compiled'
tesela 0 cache list
prints gemm/element gemm/tile_local '5 kernels'
entry=$(find "$TESELA_CACHE_DIR" -name '*.bin' | head -1)
printf 'damaged' | dd of="$entry" bs=1 seek=100 conv=notrunc 2>/dev/null
tesela 0 cache list
prints 'damaged, will be rebuilt'
tesela 0 cache prefill --device "$device" --strategy 'dot block_tree groups=32 group=64' --type f32
prints '1 compiled'
tesela 2 cache prefill --device cpu
says 'nothing to compile'
# One file of all kernels: another home computes the same bits by it, and compiles nothing.
matrix a.npy 60x50 --seed 1
matrix b.npy 50x70 --seed 2
product=(multiply a.npy b.npy --quiet --device "$device" --strategy "tile_local tile=8")
tesela 0 "${product[@]}" -o expected.npy
tesela 2 cache export
says 'needs the name of the file'
tesela 2 cache export kernels.cache --device cpu
says 'there is nothing to export'
absent kernels.cache
tesela 0 cache export kernels.cache --device "$device"
prints 'exported' 'kernels.cache'
tesela 0 cache export again.cache --json
json 'j["exported"] >= 3 and j["file"] == "again.cache" and j["bytes"] > 1000'
same kernels.cache again.cache
chmod 444 kernels.cache
home=$scratch/home
mkdir "$home"
elsewhere() {
  env -u TESELA_CACHE_DIR -u XDG_CACHE_HOME HOME="$home" TESELA_JIT=never TESELA_LOG=cache "$@"
}
# never CODE [VARIABLE=VALUE...]: the product in the other home, without a compiler.
never() {
  local expected=$1
  shift
  rm -f found.npy
  run "$expected" elsewhere "$@" "$TESELA" "${product[@]}" -o found.npy
  ! grep -q ': compiled for' "$err" || fail "a kernel was compiled"
}
never 0 TESELA_CACHE=kernels.cache TESELA_CACHE_SIZE=0
same expected.npy found.npy
says 'of the file TESELA_CACHE is used on'
[ -z "$(ls -A "$home")" ] || fail "the home is not empty: $(find "$home")"
never 0 TESELA_CACHE=kernels.cache
same expected.npy found.npy
[ "$(find "$home" -type f -printf '%f ')" = 'trials ' ] ||
  fail "more than self-tests was kept: $(find "$home")"
never 2
says 'not compiled: TESELA_JIT=never and the kernel is in no cache'
absent found.npy
run 2 elsewhere "$TESELA" explain 60 70 50 --device "$device"
prints 'not compiled: TESELA_JIT=never and the kernel is in no cache'
run 0 elsewhere "$TESELA" explain 60 70 50 --device cpu
# Without the strategy's name the call goes on by the next best one whose kernel is there.
run 0 elsewhere TESELA_LOG=plan TESELA_CACHE=kernels.cache "$TESELA" multiply a.npy b.npy \
  --quiet --device "$device" -o found.npy
says 'not compiled: TESELA_JIT=never'
cp kernels.cache short.cache
chmod 644 short.cache
truncate -s -1 short.cache
TESELA_CACHE=short.cache run 0 "$TESELA" "${product[@]}" -o found.npy
[ "$(grep -c 'TESELA_CACHE is ignored: short.cache: it is cut short' "$err")" = 1 ] || fail "not one warning"
same expected.npy found.npy
cp kernels.cache open.cache
chmod 666 open.cache
never 2 TESELA_CACHE=open.cache
says 'other users may write to it'
# Kernels stand by name and config, which says what each was compiled for.
tesela 0 cache list --json
json 'any(e["config"].startswith("float tile=") for e in j["entries"])
  and all(e["config"] or e["damaged"] for e in j["entries"])
  and [e["name"] for e in j["entries"]] == sorted(e["name"] for e in j["entries"])'
tesela 0 cache clear
prints 'removed 6 kernels'
tesela 0 cache list --json
json 'j["count"] == 0 and j["entries"] == []'
tesela 0 cache clear --json
json 'j["removed"] == 0'
