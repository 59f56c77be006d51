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
json 'j["first_call"]["self_tested"] and j["first_call"]["compiler_seconds"] == j["first_call"]["self_test_seconds"] == 0'
tesela 0 cache list --json
json 'j["count"] == 3 and j["self_tests_right"] == 3 and all(e["name"] == "gemm/tile_local" and not e["damaged"] and e["bytes"] > 0 for e in j["entries"])'
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
# Kernels stand by name and config, which says what each was compiled for.
tesela 0 cache list --json
json 'any(e["config"].startswith("float tile=") for e in j["entries"]) and all(e["config"] or e["damaged"] for e in j["entries"]) and [e["name"] for e in j["entries"]] == sorted(e["name"] for e in j["entries"])'
tesela 0 cache clear
prints 'removed 6 kernels'
tesela 0 cache list --json
json 'j["count"] == 0 and j["entries"] == []'
tesela 0 cache clear --json
json 'j["removed"] == 0'
