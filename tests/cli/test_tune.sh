#!/usr/bin/env bash
# The tuner: what it finds is right, kept, used by the planner, gone on with and replayed.
. "$(dirname "$0")/helper.sh"
export TESELA_WISDOM=$scratch/wisdom
tesela 0 tune 60 50 40 --device cpu --budget 3s --points 6 --cache cache.txt --json
json 'j["device"] == "cpu" and 1 <= j["tried"] <= 6 and j["tried"] == len(j["entries"]) and j["legal"] >= j["tried"]'
json 'j["best_seconds"] > 0 and j["gain"] > 0 and j["wisdom"]["added"] == len({e["strategy"] for e in j["entries"] if e["result"] == "right"})'
json 'j["best"] in [e["config"] for e in j["entries"] if e["result"] == "right"]'
best=$("$(python_with json)" -c 'import json, sys; print(json.load(open(sys.argv[1]))["best"])' "$out")
tried=$(wc -l <cache.txt)
[ "$tried" -ge 1 ] || fail "the cache is empty"
tesela 0 wisdom list --json
json 'j["count"] >= 1 and j["used"] == j["count"] and all(e["m"] == 60 and e["n"] == 50 and e["k"] == 40 for e in j["entries"])'
tesela 0 explain 60 50 40 --device cpu --strategy "${best%% *}" --json
json 'j["candidates"][0]["predicted_by"] == "wisdom"'
prints "$best"

# Goes on where it was: what is in the cache is not measured again.
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

# Several at once, one of which is killed: what is kept stays whole.
at_once() { "$TESELA" tune "$@" --device cpu --points 3 --cache both.txt >/dev/null; }
at_once 31 33 35 & first=$!
at_once 33 31 35 & second=$!
"$TESELA" tune 35 33 31 --device cpu --cache both.txt >/dev/null & third=$!
sleep 0.2
kill -9 "$third" 2>/dev/null || true
wait "$third" 2>/dev/null || true
wait "$first" "$second"
tesela 0 wisdom list --json
json 'j["used"] == j["count"] and {(31, 33, 35), (33, 31, 35)} <= {(e["m"], e["n"], e["k"]) for e in j["entries"]}'
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
