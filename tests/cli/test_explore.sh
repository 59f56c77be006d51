#!/usr/bin/env bash
# explore and sweep: tables, curves, CSV, JSON, refusals, and the appearance on a terminal.
. "$(dirname "$0")/helper.sh"
device=$(kernel_devices | head -1)
[ -n "$device" ] || fail "no device compiles kernels (Debian: pocl-opencl-icd)"
quick=(--seconds 0.01 --noise 1)

# --- explore ---
tesela 0 explore --sizes 16,8x9x10 --types f32 --devices all "${quick[@]}" --json
json 'j["op"] == "gemm" and j["options"]["seconds"] == 0.01 and j["options"]["warm"] is False
  and j["date"].endswith("Z")'
json 'j["machine"]["threads"] >= 1 and j["machine"]["compiler"] and len(j["machine"]["load_average"]) == 3'
json 'all(m["kind"] and m["reason"] for m in j["missing"])'
json 'all(d["cache_bytes"] >= 0 and "measured" not in d for d in j["devices"])'
json 'len(j["races"]) == 2 * len(j["devices"]) and all(r["sets"] > 1 and r["operands"] == "cold"
  for r in j["races"])'
json 'all((r["clock_mhz_before"] is None) == (r["clock_why"] != "") for r in j["races"])'
json 'all(r["rounds"] >= 3 and r["set_bytes"] in (3 * 16 * 16 * 4, 4 * (80 + 90 + 72)) for r in j["races"])'
json 'all(e["flops"] == 2 * e["m"] * e["n"] * e["k"] for e in j["entries"])'
json 'all(e["bytes"] == 4 * (e["m"] * e["k"] + e["k"] * e["n"] + e["m"] * e["n"]) for e in j["entries"])'
json 'all(e["fastest"] <= e["first_quartile"] <= e["seconds"] <= e["third_quartile"] <= e["slowest"]
  for e in j["entries"] if e["result"] == "right")'
json 'all(e["samples"] >= 3 and e["batch"] >= 1 and e["error_ratio"] <= 1 for e in j["entries"]
  if e["result"] == "right")'
json 'sum(e["result"] == "right" for e in j["entries"]) >= 14'
json 'all(e["speedup"] == 1 for e in j["entries"] if e["strategy"] == "sequential" and e["result"] == "right")'
json 'all(abs(e["flops_per_second"] * e["seconds"] / e["flops"] - 1) < 1e-9 for e in j["entries"]
  if e["result"] == "right")'

tesela 0 explore --sizes 16 --types f32 --devices cpu "${quick[@]}" --warm --json
json 'all(r["sets"] == 1 and r["operands"] == "warm" for r in j["races"]) and j["missing"] == []'
TESELA_OPENCL=none TESELA_CUDA=none tesela 0 explore --sizes 16 --types f64 "${quick[@]}"
prints 'No opencl' 'No cuda' 'sequential' 'Operands were cold'
tesela 0 explore --sizes 16 --types f64 --devices cpu "${quick[@]}"
if grep -q '^No ' "$out"; then fail "a kind is reported missing that nobody asked for"; fi
# Where nothing reaches a GFLOP/s, the table is in MFLOP/s.
tesela 0 explore --sizes 1x1x100 --types f64 --devices cpu "${quick[@]}" --strategies sequential
prints 'MFLOP/s, f64, 1 x 1 x 100'

# The other operations have their own sizes, and bytes a second.
for op in dot transpose; do
  tesela 0 explore --op $op --sizes 100 --types f32 "${quick[@]}" --json
  json "j['op'] == '$op' and all(e['bytes_per_second'] > 0 for e in j['entries'] if e['result'] == 'right')"
  tesela 0 explore --op $op --sizes 100 --types f32 --devices cpu "${quick[@]}"
  grep -qE '^[GM]B/s, f32, 100' "$out" || fail "no table of bytes a second"
done

tesela 2 explore --sizes 16x16
says '"16x16" is not a size of a gemm' 'M x N x K'
tesela 2 explore --op dot --sizes 16x16
says 'is not a size of a dot'
tesela 2 explore --op transpose --sizes 1x2x3
says 'is not a size of a transpose'
tesela 2 explore --op sum
says '"sum" is not one of gemm, dot, transpose'
tesela 2 explore --noise 0
says 'is not a fraction'
tesela 2 explore --json --csv
says 'exclude each other'
tesela 2 explore --devices all,cpu
says 'all'
tesela 2 explore --sizes 16 --types f32 --devices cpu --strategies element
says 'nothing was measured'

# --- sweep ---
tesela 0 sweep "gemm tile_local" tile=8,16,129 --size 24 --type f32 --device "$device" "${quick[@]}"
prints "gemm tile_local on $device, f32, 24 x 24 x 24" 'of best' '100%' 'tile=129' 'FLOP/s'
[ "$(grep -c '[*]' "$out")" = 1 ] || [ "$(grep -c '[*]' "$out")" = 2 ] ||
  fail "the curve has not its two points"
grep -qE '^ +8 .*16 .*129  tile$' "$out" || fail "the curve has no labels"
tesela 0 sweep gemm tile_local tile=8,16 --size 24,32 --type f32,f64 --device "$device" "${quick[@]}" --json
json 'j["command"] == "sweep" and j["strategy"] == "tile_local"
  and j["parameters"] == [{"name": "tile", "values": [8, 16]}]'
json '[e["config"] for e in j["entries"]] == 4 * ["tile_local tile=8", "tile_local tile=16"]'
json '[e["parameters"]["tile"] for e in j["entries"]] == 4 * [8, 16]'
tesela 0 sweep tile_local tile=8,129 --size 24 --type f32 --device "$device" "${quick[@]}" --csv
[ "$(grep -c '^tile_local,' "$out")" = 2 ] || fail "the CSV has not one line a value"
grep -q '^tile_local,tile_local tile=129,.*,refused,' "$out" || fail "a value that is refused has no line"
tesela 0 sweep "row_private items=64" panel=32,64,128 --size 24 --type f32 --device "$device" "${quick[@]}" \
  --json
json 'all(e["parameters"]["items"] == 64 for e in j["entries"]) and len(j["parameters"]) == 1'
# Two parameters: all combinations. The parameter with more values is the axis, each value of the other is a
# line.
tesela 0 sweep row_private panel=32,64,128 items=64,256 --size 24 --type f32 --device "$device" "${quick[@]}"
prints '* items=64' 'o items=256' '  panel'
[ "$(grep -cE '^ +(32|64|128) +(64|256) .*%' "$out")" = 6 ] || fail "the table has not all combinations"
tesela 0 sweep "dot block_tree" group=32,1024 --size 5000 --type f32 --device "$device" "${quick[@]}"
prints "dot block_tree on $device, f32, 5000" '  group'
tesela 0 sweep tile_local tile=8,16 --size 24 --type f32 "${quick[@]}" --markdown
prints '### gemm tile_local on' '|---:' '```' 'cpu lacks'
# On a device that cannot run it, there is nothing but the reason.
tesela 2 sweep tile_local tile=8,16 --size 24 --device cpu
says 'nothing was measured'
prints 'Nothing on cpu:'

tesela 2 sweep tile_local
says 'too few arguments'
tesela 2 sweep gemm tile_local
says 'nothing is swept'
tesela 2 sweep tile_local tle=8
says 'no parameter "tle"' 'it has tile'
tesela 2 sweep tile_locl tile=8
says 'did you mean tile_local?'
tesela 2 sweep tile_local tile=8,x
says '"x" is not a whole number'
tesela 2 sweep tile_local tile=8,8
says 'the value 8 twice'
tesela 2 sweep tile_local tile=
says 'empty'
tesela 2 sweep tile_local tile=8 tile=16
says 'tile is given twice'
tesela 2 sweep "tile_local tile=16" tile=8
says 'tile is given twice'
tesela 2 sweep sequential tile=8
says 'it has none'
tesela 2 sweep "element,tile_local" tile=8
says 'is not one strategy'

# --- on a terminal ---
command -v script >/dev/null || skip "needs script(1), which makes a terminal (Debian: bsdutils)"
escape=$(printf '\033')
unset NO_COLOR
export TERM=xterm
# Strategies with short and with long names, on all devices.
rows=sequential,blocked,element,row_private_column_local
for width in 80 120; do
  for command in "explore --sizes 16 --types f32 --seconds 0.01 --noise 1 --strategies $rows" \
    "sweep row_private panel=32,64,128,7 items=64,256 --size 24 --type f32 --seconds 0.01 --noise 1"; do
    last="$command (on a terminal of $width columns)"
    script -qec "stty cols $width rows 24; '$TESELA' $command" /dev/null >"$out" 2>&1 </dev/null ||
      fail "exit code $?"
    grep -q "$escape\[" "$out" || fail "no colour on a terminal"
    sed "s/$escape\\[[0-9;]*[mK]//g" "$out" | tr '\r' '\n' | awk -v most=$width 'length > most { exit 1 }' ||
      fail "a line is wider than the terminal's $width columns"
  done
done

# A strategy that the user did not name and no device can run has no row, and one line says so. A named
# strategy has a row.
TESELA_OPENCL=none TESELA_CUDA=none tesela 0 explore --sizes 16 --types f32 --seconds 0.01
prints 'Left out, since no device here can run them: ' 'element' 'tesela explain says why'
! grep -qE '^  (element|opencl_mma) ' "$out" || fail "a row that can have no number"
TESELA_OPENCL=none TESELA_CUDA=none tesela 0 explore --sizes 16 --types f32 --seconds 0.01 \
  --strategies element,sequential
grep -qE '^  element ' "$out" || fail "a strategy that was named is no row"
! grep -q 'Left out' "$out" || fail "what was named is left out"

# A dot is compared in bytes.
tesela 0 explore --op dot --sizes 1000 --types f32 --devices cpu --seconds 0.01
grep -qE '^[GM]B/s' "$out" || fail "no table of bytes a second"
! grep -q 'FLOP/s' "$out" || fail "a table of operations a second"
tesela 0 sweep "dot fixed_tree" group=256 --sizes 1000 --types f32 --devices cpu --seconds 0.01
grep -qE '[GM]B/s' "$out" || fail "a dot's sweep is not in bytes"
