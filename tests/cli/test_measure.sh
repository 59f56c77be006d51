#!/usr/bin/env bash
# tesela devices --measure: roofs of every device, and the messages for a device that cannot be measured or is
# wrong.
. "$(dirname "$0")/helper.sh"

tesela 0 devices --measure --json
json 'all(set(d["measured"]) == set("copy read level1 level2 level3 local fma_f32 fma_f64 array_bytes seconds why".split())
  for d in j["devices"])'
json 'all(d["measured"][r]["rate"] > 0 and d["measured"][r]["repeats"] >= 3 for d in j["devices"]
  for r in ("copy", "read", "fma_f32"))'
json 'all(d["measured"]["array_bytes"] >= 64 << 20 and d["measured"]["seconds"] > 0 for d in j["devices"])'
TESELA_OPENCL=none TESELA_CUDA=none tesela 0 devices
prints '--measure'
if grep -q 'measured  ' "$out"; then fail "measured without being asked"; fi

# A device that fails is reported, the others are measured all the same, and the exit code says it.
device=$(kernel_devices | head -1)
[ -n "$device" ] || skip "no device with kernels"
TESELA_FAKE=launch:1+ TESELA_FAKE_INNER=$device run 3 "$TESELA_WITH_FAKE" devices --measure --device fake:0,cpu
prints 'failed: fake:0' 'measured' 'memory copied at' 'best of repeats'
[ "$(grep -c '^  name ' "$out")" = 2 ] || fail "--device fake:0,cpu shows other devices"
one_sentence
says 'on demand' 'fake:0'
TESELA_FAKE=launch:1+ TESELA_FAKE_INNER=$device run 3 "$TESELA_WITH_FAKE" devices --measure --device fake:0 --json
json '"on demand" in j["devices"][0]["measured"]["why"]
  and j["devices"][0]["measured"]["copy"]["rate"] is None'

# Kernels that copy too little, read too little or skip multiply-adds: a wrong roof is worse than none.
mkdir tree
cp -r "$TESELA_SOURCE/src" tree
wrong() {
  local file=tree/src/tune/roofs/$1 from=$2 to=$3
  cp "$file" kept
  sed -i "s|$from|$to|" "$file"
  cmp -s "$file" kept && fail "nothing in $1 matches $from"
  TESELA_KERNEL_DIR=$PWD/tree run 1 "$TESELA" devices --measure --device "$device"
  one_sentence
  says "$4"
  prints 'failed:'
  cp kept "$file"
}
wrong roofs_memory.cl 'TSL_STORE_ALIGNED(TSL_REAL, TSL_PARAM_LANES, dst + start' 'if (step != 1) &' 'copied wrong'
wrong roofs_memory.cl 'sum\[i\] = sum\[i\] + flight\[i\];' 'sum[i] = sum[i] + (i == 1 ? flight[0] : flight[i]);' 'sum up to'
wrong roofs_fma.cl 'round < rounds' 'round < rounds - 1' 'multiply-adds in f32'
