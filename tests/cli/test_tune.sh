#!/usr/bin/env bash
# The tuner: its result is right, stored, used by the planner, resumed and replayed.
. "$(dirname "$0")/helper.sh"
export TESELA_WISDOM=$scratch/wisdom
tesela 0 tune 60 50 40 --device cpu --budget 3s --points 6 --cache cache.txt --json
json 'j["device"] == "cpu" and 1 <= j["tried"] <= 6 and j["tried"] == len(j["entries"])
  and j["legal"] >= j["tried"]'
json 'j["best_seconds"] > 0 and j["gain"] > 0
  and j["wisdom"]["added"] == len({e["strategy"] for e in j["entries"] if e["result"] == "right"})'
json 'j["best"] in [e["config"] for e in j["entries"] if e["result"] == "right"]'
# The best's time is the same wherever it stands, and so is the gain.
json 'j["best_seconds"] == [e["seconds"] for e in j["entries"] if e["config"] == j["best"]][0]'
json 'all(abs(e["seconds"] / j["best_seconds"] / j["gain"] - 1) < 1e-9 for e in j["entries"]
  if e["config"] == j["start"] and e["result"] == "right")'
best=$("$(python_with json)" -c 'import json, sys; print(json.load(open(sys.argv[1]))["best"])' "$out")
tried=$(wc -l <cache.txt)
[ "$tried" -ge 1 ] || fail "the cache is empty"
tesela 0 wisdom list --json
json 'j["count"] >= 1 and j["used"] == j["count"] and all(e["m"] == 60 and e["n"] == 50
  and e["k"] == 40 for e in j["entries"])'
tesela 0 explain 60 50 40 --device cpu --strategy "${best%% *}" --json
json 'j["candidates"][0]["predicted_by"] == "wisdom"'
prints "$best"

# A second run resumes: points in the cache are not measured again.
tesela 0 tune 60 50 40 --device cpu --points 6 --cache cache.txt --dry-run --json
json 'j["batches"] == 0 or j["tried"] <= 6'
json 'j["wisdom"] is None'
[ "$(wc -l <cache.txt)" -le 6 ] || fail "more than six measurements"
tesela 0 tune 60 50 40 --device cpu --strategy sequential --dry-run
prints 'sequential' 'none: what would have run stays'

for search in hill_climb exhaustive random; do
  tesela 0 tune --replay cache.txt --search $search --json
  json 'j["device"] is None and j["complete"] and j["tried"] == j["legal"] and j["search"] == "'$search'"'
done
tesela 0 tune --replay cache.txt
prints 'there is no more to try'

# Several tuners at once, one of which is killed: the stored file remains valid.
at_once() { "$TESELA" tune "$@" --device cpu --points 3 --cache both.txt >/dev/null; }
at_once 31 33 35 & first=$!
at_once 33 31 35 & second=$!
"$TESELA" tune 35 33 31 --device cpu --cache both.txt >/dev/null & third=$!
sleep 0.2
kill -9 "$third" 2>/dev/null || true
wait "$third" 2>/dev/null || true
wait "$first" "$second"
tesela 0 wisdom list --json
json 'j["used"] == j["count"] and {(31, 33, 35), (33, 31, 35)} <= {(e["m"], e["n"], e["k"])
  for e in j["entries"]}'
tesela 0 tune --replay both.txt --json
json 'j["tried"] >= 1'

tesela 2 tune 60 50
says 'M N K'
tesela 2 tune 60 0 40
says 'N: "0"'
tesela 2 tune 60 50 40 --search luck
says 'hill_climb, exhaustive and random'
tesela 2 tune --replay nothing.txt
says nothing.txt
echo nonsense >nonsense.txt
tesela 2 tune --replay nonsense.txt
says 'no measurement'
tesela 2 tune 60 50 40 --replay cache.txt
TESELA_WISDOM=none tesela 2 tune 60 50 40
says '--dry-run' 'TESELA_WISDOM is none'
tesela 2 tune 60 50 40 --device cpu --strategy element
says 'no such strategy takes this product on cpu'

# Other operations.
tesela 0 tune 5000 --op dot --type f64 --device cpu --budget 20s --points 2 --json
json 'j["best_seconds"] > 0'
tesela 0 tune 60 50 --op transpose --device cpu --budget 20s --points 2
prints 'GB/s' 'wisdom'
tesela 0 wisdom list --json
json '{("dot", 1, 1, 5000), ("transpose", 60, 50, 0)} <= {(e["op"], e["m"], e["n"], e["k"])
  for e in j["entries"]}'
tesela 2 tune 60 50 40 --op dot
says 'a dot takes N'

# The calls of a program: the library's lines, and the drop-in's table.
cat >calls.txt <<'END'
something else
tesela calls: gemm host_packed version=1 device=cpu place=host m=20 n=30 k=40 types=f32,f32,f32 alpha=2: 0.5 s, of which copy in 0, compute 0.5, copy out 0
tesela calls: gemm sequential version=1 device=cpu place=host m=20 n=30 k=40 types=f32,f32,f32: 0.5 s, of which copy in 0, compute 0.5, copy out 0
routine                   sizes                          calls  computed by                       seconds   GFLOP/s
cblas_dgemm               16 x 30..32 x 8                   12  tesela host_packed cpu            0.250000      12.3
sdot_                     1024                               3  libopenblas.so.0                  0.000340         -
sgemmt_                   64 x 32                           12  tesela host_packed cpu            0.012340      12.3
END
tesela 0 tune --from-log calls.txt --device cpu --budget 20s --points 2 --json
json '[(p["op"], p["calls"]) for p in j["problems"]] == [("gemm", 2), ("gemm", 12), ("dot", 3)]
  and j["passed_over"] == 3'
json '"m=16 n=32 k=8" in j["problems"][1]["problem"]'
json 'all(p["best"] or p["why"] == "the budget was over" for p in j["problems"])
  and j["problems"][0]["gain"] >= 1'
tesela 0 wisdom list --json
json '(20, 30, 40) in {(e["m"], e["n"], e["k"]) for e in j["entries"]}'
tesela 2 tune --from-log nonsense.txt
says 'no call in it'
tesela 2 tune 1 2 3 --from-log calls.txt
says 'leave out M N K'

# Two tuners that compile at once; one is killed. Neither the compiled kernels nor the wisdom are damaged.
device=$(kernel_devices | head -1)
if [ -n "$device" ]; then
  export TESELA_CACHE_DIR=$scratch/kernels TESELA_WISDOM=$scratch/both
  options=(--device "$device" --strategy element,tile_local --points 3 --budget 20s)
  "$TESELA" tune 31 33 35 "${options[@]}" >/dev/null & first=$!
  "$TESELA" tune 33 31 35 "${options[@]}" >/dev/null 2>&1 & second=$!
  sleep 0.3
  kill -9 "$second" 2>/dev/null || true
  wait "$second" 2>/dev/null || true
  wait "$first"
  tesela 0 wisdom list --json
  json 'j["used"] == j["count"] >= 1 and (31, 33, 35) in {(e["m"], e["n"], e["k"]) for e in j["entries"]}'
  tesela 0 cache list --json
  json 'j["count"] >= 1 and not [e for e in j["entries"] if e["damaged"]]'
  tesela 0 explain 31 33 35 --device "$device" --strategy tile_local
  prints 'self-test' 'by wisdom'
fi
