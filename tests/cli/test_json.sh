#!/usr/bin/env bash
# --json of every command is JSON with the keys that docs/JSON.md names. Markdown and CSV are well-formed.
. "$(dirname "$0")/helper.sh"
matrix a.npy 20x30 --json
json 'j["command"] == "generate" and j["rows"] == 20 and j["columns"] == 30 and j["seed"] == 1 and j["tesela"]'
matrix b.npy 30x10

tesela 0 devices --json
json 'any(d["name"] == "cpu" and d["kind"] == "cpu" and d["memory_bytes"] > 0 for d in j["devices"])'
json 'all(set(m) == {"kind", "what", "reason"} and m["reason"] for m in j["missing"])'
TESELA_OPENCL=none TESELA_CUDA=none tesela 0 devices --json
json '[d["name"] for d in j["devices"]] == ["cpu"] and [m["kind"] for m in j["missing"]] == ["opencl", "cuda"]'
TESELA_OPENCL=none TESELA_CUDA=none tesela 0 devices
prints 'No opencl' 'No cuda'
tesela 0 devices --names
grep -qx cpu "$out" || fail "no cpu among the names"

tesela 0 strategies --json
json '[s["name"] for s in j["strategies"]][:2] == ["sequential", "sequential_optimized"]'
json 'all(s["idea"] and s["types"]
  and (s["needs"] or s["op"] != "gemm" or s["name"] in ("exact", "residue_int8", "split_precision"))
  and s["error_factor_k1000"] >= (s["op"] != "transpose") for s in j["strategies"])'
tesela 0 strategies --markdown
prints '`sequential`' '`tile_local`' '## Parameters'
cp "$out" here.md
tesela 0 explore --sizes 16 --types f32 --devices cpu --seconds 0.01 --json
cp "$out" result.json
tesela 0 strategies --markdown --results result.json
prints '## Measured' '| `sequential` |' ' at 16 |'
echo '{}' >empty.json
tesela 2 strategies --markdown --results result.json,empty.json
says empty.json 'tesela explore --json'
tesela 2 strategies --results result.json
says --markdown
TESELA_OPENCL=none TESELA_CUDA=none tesela 0 strategies --markdown
same "$out" here.md
tesela 0 strategies
prints sequential tile_local

tesela 0 multiply a.npy b.npy --json --verify --device cpu --repeat 3 -o c.npy
json 'j["m"] == 20 and j["n"] == 10 and j["k"] == 30 and j["type"] == "f32" and j["repeats"] == 3'
json 'j["verified"]["right"] and j["verified"]["elements_checked"] == 200 and j["expected"] is None'
json 'j["plan"].startswith("gemm ") and "device=cpu" in j["plan"] and j["output"] == "c.npy"'
json 'set(j["seconds"]) == set("plan read allocate copy_in compute copy_out free verify write total".split())'
json 'j["seconds"]["free"] > 0'
for device in $(kernel_devices); do
  tesela 0 multiply a.npy b.npy --json --device "$device" --strategy element
  json 'j["seconds"]["free"] > 0 and j["seconds"]["allocate"] > 0'
done
json 'j["seconds"]["total"] >= j["seconds"]["compute"] and j["flops_per_second"] > 0 and j["error_bound"] > 0'
json 'j["measured"] is None and j["note"] is None'
# Kinds of ordinary numbers: of a matrix that is made, and of A where strategies are measured.
matrix eye.csv 3x2 --distribution identity --type f64
[ "$(cat eye.csv)" = $'1,0\n0,1\n0,0' ] || fail "not the identity: $(cat eye.csv)"
tesela 0 explore --sizes 16 --types f32 --devices cpu --strategies sequential --seconds 0.01 --data softmax \
  --json
json 'j["options"]["data"] == "softmax"'
tesela 0 explore --sizes 16 --types f32 --devices cpu --strategies sequential --seconds 0.01 --data relu
prints "A's numbers were relu"
# A product for which residues do not pay: the report names the strategy that computed it, in every format.
matrix spread.npy 40x300 --type f64 --distribution graded
matrix narrow.npy 300x20 --type f64
tesela 0 multiply spread.npy narrow.npy --device cpu --strategy residue_int8 --verify --json
json 'j["note"].startswith("residue_int8: ") and "computed by host_" in j["note"] and j["verified"]["right"]'
tesela 0 multiply spread.npy narrow.npy --device cpu --strategy residue_int8
prints 'computed by host_'
TESELA_LOG=calls run 0 "$TESELA" multiply spread.npy narrow.npy --device cpu --strategy residue_int8
says 'computed by host_'
tesela 0 multiply a.npy b.npy --json --measure-error --device cpu
json '0 < j["measured"]["largest_error"] <= j["error_bound"] and j["measured"]["all_elements"]
  and j["measured"]["rows"] == 20'
json 'j["seconds"]["verify"] >= j["measured"]["seconds"] > 0'
matrix wide.npy 300x300
tesela 0 multiply wide.npy wide.npy --measure-error --device cpu
prints 'largest error seen' 'columns (bound'
matrix other.npy 20x10 --seed 9
tesela 1 multiply a.npy b.npy --json --expect other.npy --device cpu -o d.npy
json 'not j["expected"]["agrees"] and j["expected"]["elements_that_differ"] == 200 and j["output"] is None'
says 'differs from other.npy in 200 elements'
absent d.npy
tesela 0 multiply a.npy b.npy --quiet -o d.npy
[ ! -s "$out" ] || fail "--quiet is not quiet"

tesela 0 explain 100 200 300 --json --resident --type f64
json '(not j["links"]) == (not j["crossover"]) and (not j["crossover"] or j["crossover"][0]["from"] == 16)'
json 'all(l["measured"] == (l["device"] != "cpu") for l in j["links"])'
tesela 0 explain 100 200 300 --json --type f64 --beta 0.5
json 'j["m"] == 100 and j["beta"] == 0.5 and j["plan"].startswith("gemm ")
  and sum(c["chosen"] for c in j["candidates"]) == 1'
json 'all((c["refusal"] is None) != (c["predicted_seconds"] is None) for c in j["candidates"])'
json 'j["host_bytes"] == 8 * (100 * 300 + 300 * 200 + 100 * 200)'
tesela 0 explain 100 200 300 --device cpu
prints 'could run' 'chosen' 'refuses' 'element'
tesela 2 explain 10 10 10 --device cpu --strategy element
prints 'none:'
says element cpu

tesela 0 explore --sizes 16,8x9x10 --types f32 --devices cpu --seconds 0.01 --json
json 'sorted(set((e["m"], e["n"], e["k"]) for e in j["entries"])) == [(8, 9, 10), (16, 16, 16)]'
json 'all(e["result"] == "right" and e["seconds"] > 0 and e["grade"] >= 0 for e in j["entries"]
  if e["strategy"].startswith("seq"))'
json 'all(e["result"] == "refused" and e["why"] for e in j["entries"] if e["strategy"] == "element")'
tesela 0 explore --sizes 16 --types f32,f64 --devices cpu --seconds 0.01 --csv
head -1 "$out" | grep -q '^strategy,config,device,type,m,n,k,result,gflops,speedup,' ||
  fail "the CSV's titles"
[ "$(grep -c '^sequential,' "$out")" = 2 ] || fail "the CSV has not one line an entry"
tesela 0 explore --sizes 16 --types f32 --devices cpu --seconds 0.01 --markdown
prints '### GFLOP/s, f32, 16 x 16 x 16' '### Speed-up' '|---|---:|'
tesela 0 explore --sizes 16 --types f32 --devices cpu --seconds 0.01
prints 'GFLOP/s' 'Speed-up' 'sequential_optimized' '1.00'
# The time limit, by its name and by its former one.
for limit in time-limit patience; do
  tesela 2 explore --sizes 4000 --types f32 --devices cpu --strategies sequential --$limit 1ms
  prints 'left out' 'the time limit is 1 ms'
done
tesela 0 help explore
prints '--time-limit' 'former name of --time-limit'

tesela 0 check --device cpu --cases 2 --type f32 --json --strategy sequential_optimized
json 'j["right"] > 50 and j["wrong"] == 0 and j["failed"] == 0 and j["random_cases"] == 2
  and j["faults"] == []'
json 'j["standard_cases"] == j["standard_cases_in_all"] and j["rows"][0]["strategy"] == "sequential_optimized"'
json 'j["rows"][0]["error_ratio"] <= 1'
tesela 0 check --device cpu --case standard:5
tail -1 "$out" | grep -qE '^[0-9]+ right, 0 wrong, [0-9]+ refused' || fail "the last line is not the sum"
tesela 0 check --device cpu --case random:3 --seed 9 --json
tesela 2 check --device cpu --strategy element
says 'nothing was checked'
tesela 0 check --device cpu --budget 0.2s --strategy sequential --json
json 'j["seconds"] < 60'
