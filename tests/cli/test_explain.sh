#!/usr/bin/env bash
# Why one strategy beats another: what explain and multiply tell of traffic, groups and waste.
. "$(dirname "$0")/helper.sh"

# One candidate's member, in a Python expression: of tile_local, account...
device=$(kernel_devices | grep -m 1 opencl || true)
[ -n "$device" ] || fail "there is no OpenCL device"

# C is 30 x 50: 4 x 2 groups of 16 x 16, 64 x 32 items, of which 548 are beyond C.
tesela 0 explain 30 50 100 --device "$device" --strategy "tile_local tile=16" --json
json 'j["candidates"][0]["account"]["groups"] == [4, 2, 1]
  and j["candidates"][0]["account"]["ndrange"] == [64, 32, 1]'
json 'j["candidates"][0]["account"]["items_in_all"] == 2048
  and j["candidates"][0]["account"]["items_wasted"] == 548'
json 'j["candidates"][0]["account"]["computed_multiply_adds"] == 64 * 32 * 112'
json 'j["candidates"][0]["account"]["global_bytes_read"] == 4 * (4 * 30 * 100 + 2 * 100 * 50)'
json 'j["candidates"][0]["partner"] is None and j["candidates"][0]["agreement"] == "unknown"
  and j["candidates"][0]["comparison"] == "loads 0.147 numbers for each multiply-add"'
tesela 0 explain 30 50 100 --device "$device" --strategy "tile_local tile=16"
prints '4 x 2 of 16 x 16 items, an NDRange of 64 x 32; 548 of 2048 items (26.8%) lie outside of C and are idle' 'limit: '

# The whole ladder: every candidate has a comparison, and the nearest of its partners that can run.
tesela 0 explain 512 512 512 --json
json 'all((c["account"] is None) == (c["refusal"] is not None) for c in j["candidates"])'
json 'all(c["comparison"] for c in j["candidates"] if c["account"])'
json 'all(max(c["account"]["seconds"].values()) == c["account"]["seconds"][c["account"]["bound"]]
  for c in j["candidates"] if c["account"])'
json 'all((c["partner"], c["partner_device"]) in [(o["strategy"], o["device"]) for o in j["candidates"]
  if o["account"]] for c in j["candidates"] if c["partner"])'
json '(lambda p: p["row_private"] == "row" and p["tile_local"] == "element" and p["element"] == "sequential"
  )({c["strategy"]: c["partner"] for c in j["candidates"] if c["device"] == "'"$device"'"})'
# Tiling moves to the right.
json '(lambda w: w["element"] < w["row_private"] < w["tile_local"])({c["strategy"]: c["account"]["operations_per_byte"] for c in j["candidates"] if c["account"] and c["device"] == "'"$device"'"})'
tesela 0 explain 512 512 512
prints 'traffic of' 'op/byte' 'limit' 'idle' 'compared with the partner' 'threads'

# An equal account for the strategy that ran.
matrix a.npy 30x100
matrix b.npy 100x50
tesela 0 multiply a.npy b.npy -o c.npy --device "$device" --strategy "element columns=16 rows=8" --json
json 'j["account"]["groups"] == [4, 4, 1] and j["account"]["items"] == [16, 8, 1]
  and j["account"]["items_wasted"] == 548'
tesela 0 multiply a.npy b.npy -o d.npy --device "$device" --strategy "element columns=16 rows=8"
prints 'groups' '4 x 4 of 16 x 8 items, an NDRange of 64 x 32' 'operations a byte'
tesela 0 multiply a.npy b.npy -o e.npy --device cpu --json
json 'j["account"]["groups"] is None and j["account"]["workers"] >= 1'
matrix x.npy 1x5000 --seed 3
matrix y.npy 1x5000 --seed 4
tesela 0 dot x.npy y.npy --device "$device" --strategy "block_tree groups=8 group=64" --json
json 'j["account"]["groups"][0] == 8 and j["account"]["items"][0] == 64 and j["account"]["launches"] == 2'
tesela 0 transpose a.npy -o t.npy --device "$device" --strategy "tile_local tile=32 rows=4" --json
json 'j["account"]["groups"][0] == 4 and j["account"]["local_words"] == 1
  and j["account"]["operations_per_byte"] == 0'

# A cluster: 7 ranks of a cube have blocks of one volume, 8 ranks a cube of blocks. The words are near the
# bound.
tesela 0 explain 4096 4096 4096 --type f64 --ranks 8 --memory 1GiB --json
json 'j["plan"].startswith("grid 2 x 2 x 2 of 8 ranks") and j["words"] == 3 * 2048 * 1024'
json 'abs(j["words"] / j["bound"] - 1) < 0.01 and j["memory_bytes"] <= 1 << 30'
tesela 0 explain 4096 4096 4096 --type f64 --ranks 7 --memory 1GiB --json
json 'j["used"] == 7 and "slabs" in j["plan"] and j["words"] < 1.5 * j["bound"]'
# A product for one rank has one on any number of ranks, and nothing travels.
tesela 0 explain 100 100 100 --ranks 8 --json
json 'j["used"] == 1 and j["words"] == 0 and j["bound"] == 0'
tesela 0 explain 100 100 100 --ranks 8
prints '1 multiply and hold the operands, 7 more would make it no faster' '0 to or from the busiest rank, 0 at least'
# A tall one has as many slabs as ranks, each with a message to each other, and its panel of B travels once.
tesela 0 explain 1000000 1000 1000 --type f64 --ranks 1024 --memory 16GiB --json
json 'j["slabs"] == 1024 and j["depth"] == 1 and j["words"] < 1.01 * j["bound"]'
# On a slow network the grid differs, and the library's grid is shown too. More ranks are not slower.
before=1000
for ranks in 512 768 1024; do
  tesela 0 explain 1000000 1000 1000 --type f64 --ranks $ranks --memory 16GiB --link 100MiB --json
  json 'j["predicted_seconds"] <= j["library_seconds"] and j["predicted_seconds"] <= '"$before"
  before=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["predicted_seconds"])' "$out")
done
tesela 0 explain 65536 65536 65536 --ranks 1024 --memory 64GiB
prints 'of 1024 ranks' 'to or from the busiest rank' 'where nothing overlaps'
TESELA_NCCL=none tesela 0 explain 65536 65536 65536 --ranks 1024 --memory 64GiB
prints 'panels' 'through host memory: '
tesela 3 explain 4096 4096 4096 --ranks 8 --memory 100
says 'too few'
