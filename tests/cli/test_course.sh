#!/usr/bin/env bash
# The teaching documents: tables with this machine's and published figures, and answers checked by the run.
. "$(dirname "$0")/helper.sh"
python=$(python_with json)
[ -n "$python" ] || skip "needs Python 3"

tesela 0 course
prints mattson Spanish bulic Slovene obuda Hungarian adreno wb Chinese
tesela 0 course --json
json '[d["document"] for d in j["documents"]] == ["mattson", "bulic", "obuda", "adreno", "wb"]'
tesela 2 course matson
says '"matson" is not one of mattson, bulic, obuda, adreno, wb' 'did you mean mattson'
tesela 2 course wb --json --markdown
says 'exclude each other'

tesela 0 course mattson --quick
prints 'MFLOP/s, f32; --quick: 64 x 64 x 64' 'Xeon E5649' 'Tesla M2090' 'N/A' 'Questions' 'Published: '
grep -qE '^ +C\(i,j\) per work-item, all global +.* 744 +3926 .* 511 +3721$' "$out" || fail "no published row"
grep -qE '^ +C row per work-item, A private, B local .* 11.3 .* 14.8 +9.16$' "$out" ||
  fail "no published speed-up"

# Every document runs, all rows that were measured are right, and a verdict follows from the run's own times.
cat >verdicts.py <<'PYTHON'
import json, math, sys
j = json.load(open(sys.argv[1]))
row = lambda cell: j["tables"][cell["table"]]["rows"][cell["row"]]
for table in j["tables"]:
    for r in table["rows"]:
        for place, cell in r["here"].items():
            if cell is None or cell["result"] == "refused":
                continue
            assert cell["result"] == "right", (r["name"], cell)
            assert cell["value"] > 0 and cell["seconds"] > 0
            if table["unit"] == "ms":
                assert math.isclose(cell["value"], 1e3 * cell["seconds"])
assert len(j["questions"]) == 3
counts = {}
for q in j["questions"]:
    for place, check in q["checks"].items():
        counts[check["verdict"]] = counts.get(check["verdict"], 0) + 1
        assert row(q["fast"])["name"] == q["fast"]["name"] != q["slow"]["name"]
        fast = row(q["fast"])["here"][place]
        slow = row(q["slow"])["here"][place] or row(q["slow"])["here"]["CPU"]
        if check["verdict"] == "not checked":
            assert not (fast and slow and fast["seconds"] and slow["seconds"]), (q, fast, slow)
            continue
        factor, most = slow["seconds"] / fast["seconds"], q["max"] or math.inf
        assert math.isclose(check["factor"], factor) and check["low"] <= factor <= check["high"]
        holds = q["min"] <= check["low"] and check["high"] <= most
        near = check["high"] >= q["min"] and check["low"] <= most
        assert check["verdict"] == ("holds" if holds else "undecided" if near else "contradicted"), (q, check)
print(j["document"], counts)
PYTHON
for document in mattson bulic obuda adreno wb; do
  tesela 0 course $document --quick --json
  cp "$out" $document.json
  json "j['document'] == '$document' and j['quick']"
  run 0 "$python" verdicts.py $document.json
  cat "$out"
done

# Without kernels the sequential rows remain, and no answer is checked.
TESELA_OPENCL=none TESELA_CUDA=none tesela 0 course adreno --quick
prints 'CPU: not checked' 'GPU: not checked: there is no GPU'
TESELA_OPENCL=none TESELA_CUDA=none tesela 0 course adreno --quick --json
json 'j["tables"][0]["rows"][0]["here"]["CPU"]["result"] == "right"'
json 'all(c["verdict"] == "not checked" for q in j["questions"] for c in q["checks"].values())'

tesela 0 course bulic --quick
grep -qE '^     CPU: (holds here|CONTRADICTED by this machine|undecided|not checked)' "$out" ||
  fail "no verdict is printed"

# The commands of a document are commands of the tool.
while read -r _ command words; do
  "$TESELA" "$command" --help >/dev/null || fail "no command $command"
done < <(for document in mattson bulic obuda adreno wb; do "$TESELA" course $document --quick; done |
  grep -E '^  tesela ')

# Matrices as courses fill them.
tesela 0 generate 2x3 -o ones.txt --distribution ones
[ "$(tr '\n' ' ' <ones.txt)" = "2 3 1 1 1 1 1 1 " ] || fail "no ones: $(cat ones.txt)"
tesela 0 generate 2x3 -o index.txt --distribution index
[ "$(tr '\n' ' ' <index.txt)" = "2 3 0 1 2 3 4 5 " ] || fail "no indices: $(cat index.txt)"
tesela 0 generate 2x3 -o minus.txt --distribution minus-index --type f64
[ "$(tr '\n' ' ' <minus.txt)" = "2 3 0 -1 -2 -3 -4 -5 " ] || fail "no minus indices: $(cat minus.txt)"

# A kernel with a wrong result has no figure, and its answer is not checked.
if kernel_devices | grep -q opencl; then
  mkdir planted && cp -r "$TESELA_SOURCE/src" planted
  folder=planted/src/strategy/gemm/ladder/row_private_column_local
  sed -i 's/TSL_FMA(panel.i., column.i., sum)/TSL_FMA(panel[i], b[i], sum)/' \
    "$folder/row_private_column_local.cl"
  TESELA_KERNEL_DIR=$PWD/planted tesela 1 course mattson --quick
  says '1 wrong and 0 failed entries; the first, row_private_column_local'
  prints WRONG 'CPU: not checked: C('
fi

# Numbers that a type cannot hold: an index that would saturate is an error; the report names rounding.
tesela 0 generate 4x32 -o wide.npy --distribution index --type i8
prints "i8, index, seed 1"
! grep -q rounded "$out" || fail "no number is rounded"
tesela 2 generate 3x43 -o wide.npy --distribution index --type i8
says "the numbers go up to 128, and i8 ends at 127" "at most 128 elements"
tesela 0 generate 3x43 -o wide.npy --distribution minus-index --type i8
tesela 2 generate 1x2 -o wide.npy --distribution minus-index --type u8
says "u8 ends at 0" "at most 1 element"
tesela 2 generate 5x90 -o wide.npy --distribution index --type e4m3
says "e4m3 ends at 448"
for limit in f16:2048 bf16:256 e4m3:16 e5m2:8; do
  tesela 0 generate 1x$((${limit#*:} + 1)) -o wide.npy --distribution index --type "${limit%:*}"
  ! grep -q rounded "$out" || fail "no number is rounded"
  tesela 0 generate 1x$((${limit#*:} + 2)) -o wide.npy --distribution index --type "${limit%:*}"
  prints "numbers beyond ${limit#*:} are rounded"
done
tesela 0 generate 4x4 -o wide.npy --type u8 --json
json 'j["note"] == "fractions are rounded to whole numbers, negative numbers become 0"'
tesela 0 generate 4x4 -o wide.npy --type e4m3 --distribution graded
prints "numbers beyond 448 become NaN"
tesela 0 generate 4x4 -o wide.npy --type i8 --distribution integer --json
json 'j["note"] == ""'
# Options of a run without a document.
tesela 2 course --device cpu
says "no document is named" "--devices" "tesela course mattson"
tesela 2 course --quick
says "--quick"
