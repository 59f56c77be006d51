#!/usr/bin/env bash
# compare: better, worse, undecided, missing and new rows, and files that should not be compared.
. "$(dirname "$0")/helper.sh"
python=$(python_with json)
[ -n "$python" ] || skip "needs Python 3"
tesela 0 explore --sizes 16 --types f32,f64 --devices cpu --seconds 0.01 --noise 1 \
  --strategies sequential,blocked --json
cp "$out" old.json

# changed FILE PYTHON: writes old.json to FILE with new times for every right entry, then changed by the
# Python code, which sees `j`. `f32` and `f64` are the entries of sequential.
changed() {
  "$python" - "$1" "$2" <<'PYTHON' || fail "changed: $2"
import json, sys
j = json.load(open("old.json"))
def times(entry, seconds, spread=0.02):
    entry.update(seconds=seconds, first_quartile=seconds * (1 - spread / 2), third_quartile=seconds * (1 + spread / 2),
                 spread=spread, samples=9)
for entry in j["entries"]:
    times(entry, 1e-3)
f32, f64 = [e for e in j["entries"] if e["strategy"] == "sequential"]
exec(sys.argv[2])
json.dump(j, open(sys.argv[1], "w"))
PYTHON
}
changed a.json ''
changed b.json 'times(f32, 0.9e-3); times(f64, 1.01e-3)'
tesela 0 compare a.json b.json
prints 'b.json against a.json' 'gemm, f32, 16 x 16 x 16' 'better' 'undecided' '1 better, 0 worse, 3 undecided'
tesela 0 compare a.json b.json --json
json 'j["counts"] == {"better": 1, "worse": 0, "undecided": 3, "missing": 0, "new": 0}'
json 'len(j["rows"]) == 4 and j["floor"] == 0.03 and j["old"] == "a.json" and j["new"] == "b.json"'
json '[round(r["speedup"], 3) for r in j["rows"] if r["outcome"] == "better"] == [1.111]'
tesela 1 compare b.json a.json
says '1 row is worse than in b.json' 'sequential on cpu'
prints '0 better, 1 worse'
tesela 0 compare b.json a.json --floor 0.2
tesela 0 compare a.json b.json --markdown
prints '### gemm, f64, 16 x 16 x 16' '|---|'
tesela 0 compare a.json a.json
prints '0 better, 0 worse, 4 undecided'

# Quartiles that overlap, a change below the floor, and too few samples decide nothing.
changed c.json 'times(f32, 1.3e-3, 0.7); times(f64, 1.02e-3, 0.001)'
tesela 0 compare a.json c.json
prints '0 better, 0 worse, 4 undecided'
changed c.json 'times(f32, 2e-3); f32["samples"] = 2'
tesela 0 compare a.json c.json
# Files without quartiles have a spread.
changed c.json 'times(f32, 2e-3); del f32["first_quartile"], f32["third_quartile"]'
tesela 1 compare a.json c.json

# Results that are no longer right; rows of one file only.
changed c.json 'f32.update(result="wrong", why="C(0, 0) is 3, and should be 2")'
tesela 1 compare a.json c.json
prints 'C(0, 0) is 3' 'worse'
tesela 0 compare c.json a.json
prints 'better'
changed c.json 'f32.update(result="refused", why="left out: too slow")'
tesela 0 compare a.json c.json
prints 'missing' 'left out: too slow' '1 missing'
tesela 0 compare c.json a.json
prints '1 new'
changed c.json 'j["entries"].remove(f64); f32["m"] = 17'
tesela 0 compare a.json c.json --json
json 'j["counts"]["missing"] == 2 and j["counts"]["new"] == 1
  and sum(r["old"] is None for r in j["rows"]) == 1'

# The model's own choice of a config may change; named configs are rows of their own.
changed c.json \
  'e = [e for e in j["entries"] if e["strategy"] == "blocked"][0]; e["config"] = "blocked rows=1"; times(e, 2e-3)'
tesela 1 compare a.json c.json
prints 'blocked rows=1 (was blocked rows='
changed d.json 'j["command"] = "sweep"'
tesela 0 compare d.json c.json
prints '1 missing, 1 new'

# Other devices, other caches, other operations.
changed c.json 'j["devices"][0]["label"] = "another processor"'
tesela 2 compare a.json c.json
says 'cpu is' '"another processor" in c.json' '--force'
tesela 0 compare a.json c.json --force
prints 'The label of cpu was'
changed c.json 'j["options"]["warm"] = True'
tesela 2 compare a.json c.json
says 'cold operands' 'warm'
changed c.json 'j["op"] = "dot"'
tesela 2 compare a.json c.json
says 'is about gemm and c.json about dot'
changed c.json 'j["machine"]["threads"] = 77; j["devices"][0]["platform"] = "Linux 99"'
tesela 0 compare a.json c.json
prints 'Host threads were' 'and are 77' 'The platform of cpu was'

# Missing and invalid files.
tesela 2 compare a.json nothing.json
says 'nothing.json: No such file'
echo '{"entries": [' >broken.json
tesela 2 compare broken.json a.json
says 'broken.json: line'
echo '{"command": "devices"}' >other.json
tesela 2 compare other.json a.json
says 'other.json: is not what tesela explore --json'
changed c.json 'del f32["device"]'
tesela 2 compare a.json c.json
says 'c.json: entry 0 has no "device"'
changed c.json 'f32["seconds"] = None'
tesela 2 compare a.json c.json
says 'has no "seconds"'
tesela 2 compare a.json
says 'too few arguments'
