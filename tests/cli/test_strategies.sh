#!/usr/bin/env bash
# One strategy, told: its story, its source as compiled, its parameters by name, its drawing.
. "$(dirname "$0")/helper.sh"
device=$(kernel_devices | grep -m 1 opencl || true)
[ -n "$device" ] || fail "there is no OpenCL device"

# Every strategy has a story: the comment that its source begins with.
"$TESELA" strategies --json >all.json
"$(python_with json)" -c 'import json
for s in json.load(open("all.json"))["strategies"]: print(s["op"], s["name"])' >names
[ "$(wc -l <names)" -ge 25 ] || fail "there are hardly any strategies"
while read -r op name; do
  tesela 0 strategies "$op" "$name"
  prints "$op $name"
  [ "$(wc -l <"$out")" -ge 8 ] || fail "$op $name says hardly anything"
  if grep -qF '*/' "$out"; then fail "the comment's marks are left"; fi
done <names
tesela 0 strategies tile_local
prints 'gemm tile_local, rung' 'Idea: the work-group loads a TILE x TILE tile' '| TILE |' \
  'Local memory: 2 TILE' '8 16* 32; by name 1 to 128'
tesela 0 strategies tile_local --json
json 'j["strategies"][0]["story"].startswith("Idea: ") and j["strategies"][0]["parameters"][0]["most"] == 128'
tesela 0 strategies transpose tile_local
prints 'a work-group moves a square tile'
tesela 2 strategies tile_locl
says 'did you mean tile_local'
tesela 2 strategies element --device cpu
says "--device is for --source"
tesela 2 strategies element --all
says "--all is for --source"
tesela 2 strategies --source
says 'name it'
tesela 2 strategies tile_local --markdown

# The source is the kernel, with the names of included files; no device is needed.
tesela 0 strategies tile_local tile=4 --source --device "$device" --type f64
prints '#define TSL_REAL double' '#define TSL_PARAM_TILE 4' 'tsl_gemm_tile_local' '#include "kernel/'
if grep -q '^#line' "$out"; then fail "a line directive is left"; fi
cp "$out" kernel.txt
TESELA_OPENCL=none TESELA_CUDA=none tesela 0 strategies tile_local tile=4 --source --device cuda:0 --type f64
same kernel.txt "$out"
TESELA_OPENCL=none TESELA_CUDA=none tesela 0 strategies tile_local tile=4 --source --type f64
same kernel.txt "$out"
TESELA_OPENCL=none TESELA_CUDA=none tesela 0 strategies element --source --device cuda:0 --all
prints '__syncthreads' 'tsl_gemm_element'
# With --all it is the compiler's input: defines first, no include left.
tesela 0 strategies tile_local tile=4 --source --all --device "$device" --type f64
prints '#define TSL_REAL double' '#define TSL_PARAM_TILE 4' 'tsl_gemm_tile_local'
if grep -q '^#include "' "$out"; then fail "an include is left"; fi
tesela 0 strategies image_microtile --source --device "$device"
[ "$(grep -c '^#define TSL_PARAM_HEIGHT' "$out")" = 1 ] || fail "the text of two kernels is printed twice"
tesela 2 strategies blocked --source --device cpu
says 'src/strategy/gemm/ladder/blocked'
tesela 2 strategies vendor_openblas --source --device "$device"
says "vendor's library"

# Groups of any size, by name. A size above the device's limit is refused with the limit.
matrix a.npy 100x30
matrix b.npy 30x70
tesela 0 multiply a.npy b.npy -o c.npy --device "$device" --strategy "row items=50" --verify
prints '2 of 50 items, an NDRange of 100' 'right: all'
tesela 0 multiply a.npy b.npy -o d.npy --device "$device" --strategy "tile_local tile=4 relaxed=1" --verify
prints 'tile=4 relaxed=1' 'right: all'
tesela 2 multiply a.npy b.npy -o e.npy --device "$device" --strategy "element columns=128 rows=128"
says '128 x 128 work-items a group are more than the'
tesela 2 multiply a.npy b.npy -o e.npy --device "$device" --strategy "tile_local tile=129"
says 'tile=129 is not one of 8, 16, 32, or any number from 1 to 128'

tesela 0 multiply a.npy b.npy -o f.npy --device "$device" --strategy "image_microtile relaxed=1" --verify
prints 'relaxed=1' 'right: all'

# Copies where none are needed: the same result, with time for them.
tesela 0 multiply a.npy b.npy -o g.npy --device "$device" --strategy tile_local --copies explicit --verify
prints 'right: all' 'copy in'
tesela 0 multiply a.npy b.npy -o h.npy --device "$device" --strategy tile_local --verify
cmp g.npy h.npy || fail "copies change the result"
tesela 2 multiply a.npy b.npy -o i.npy --copies never
says '--copies' 'auto' 'explicit'

# Rungs are unique, and go from 1 up in the order in which strategies are listed, before all others.
tesela 0 strategies --json
json 'all((lambda r: r == list(range(1, 1 + len(r) - r.count(None))) + [None] * r.count(None))(
  [s["rung"] for s in j["strategies"] if s["op"] == op and not s["vendor"]])
  for op in ("gemm", "dot", "transpose"))'
