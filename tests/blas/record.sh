#!/usr/bin/env bash
# Counts and advice of tesela run --report: record.sh TESELA RECORDED SCRATCH SOURCE
set -euo pipefail
tesela=$1 program=$2 scratch=$3 source=$4
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
export TESELA_THREADS=1 TMPDIR=$scratch
command -v python3 >/dev/null || { echo "needs Python 3"; exit 77; }
fail() { echo "FAILED: $1"; cat messages.txt; exit 1; }

# record CODE WORDS...: runs the program, whose exit code is CODE, and writes run.json.
record() {
  local code=0 expected=$1
  shift
  "$tesela" run --report run.json "${options[@]}" -- "$program" "$@" 2>messages.txt || code=$?
  [ "$code" = "$expected" ] || fail "$*: exit code $code, not $expected"
  [ -z "$(find . -maxdepth 1 -name 'tesela-record*')" ] || fail "$*: the folder of counts stays"
}
# holds PYTHON: an expression is true. j: the report; p: its products; advice: names; gemm: the first dgemm.
# calls(): the calls of each routine.
holds() {
  python3 - "$1" <<'PYTHON' || fail "not true: $1"
import json, sys
j = json.load(open("run.json"))
p, advice = j["products"], {one["advice"] for one in j["advice"]}
gemm = next((one for one in p if one["routine"] == "cblas_dgemm"), None)
calls = lambda: {(x["routine"], x["calls"]) for x in p}
total = sum(one["share"] for one in p) + j["rest_share"]
assert abs(total - 1) < 1e-9, f"shares sum to {total}"
assert j["calls"] == sum(one["calls"] for one in p) == sum(one["calls"] for one in j["processes"])
sys.exit(not eval(sys.argv[1]))
PYTHON
}
options=()

record 7 general syrk ddot
holds 'j["calls"] == 120 and calls() == {("cblas_dgemm", 40), ("cblas_dsyrk", 40), ("cblas_ddot", 40)}'
holds 'gemm["most"] == gemm["leading_dimensions"] == [48, 48, 48] and gemm["layout"] == "RNN"'
holds 'gemm["type"] == "f64" and gemm["beta"] == 0 and gemm["computed_by"] == "tesela host_small cpu"'
holds 'gemm["why"] == "small: computed at once" and 0 < gemm["fastest_seconds"] <= gemm["seconds"] / 40'
holds 'next(x for x in p if x["routine"] == "cblas_ddot")["least"] == [100] and len(j["processes"]) == 1'
holds 'j["processes"][0]["exited"] and j["exit_code"] == 7 and not advice - {"round", "align"}'

# Calls of tesela's interface, by another library in the same process.
record 7 api general
holds 'calls() == {("tesela_gemm", 40), ("tesela_gemm_batched", 1), ("tesela_gemm_grouped", 1),
                   ("tesela_plan_run", 3), ("cblas_dgemm", 40)} and len(j["processes"]) == 2'
holds '{x["routine"]: x["count"] for x in p}["tesela_gemm_batched"] == 5'
holds 'all(x["type"] == "f64" and x["most"] == [48] * 3 and x["layout"] == "RNN" for x in p)'
holds 'next(x for x in p if x["routine"] == "tesela_plan_run")["computed_by"].startswith("tesela host_")'

# Each pattern has its advice, and only that of its kind. Advice needs a hundredth of the run's time, and a
# program starts slowly on a busy machine: each word of 40 calls comes 128 times.
kinds='{"transposed", "triangular", "symmetric", "single", "join", "batch", "deepen"}'
only() {
  local expected=$1
  shift
  record 7 "$@"
  holds "advice & $kinds == set([$expected])"
}
only '"transposed"' transposed{,}{,}{,}{,}{,}{,}{,}
only '"triangular"' lower{,}{,}{,}{,}{,}{,}{,}
only '"symmetric"' symmetric{,}{,}{,}{,}{,}{,}{,}
only '"single"' single{,}{,}{,}{,}{,}{,}{,}
only '"batch"' apart{,}{,}{,}{,}{,}{,}{,}
only '' chain{,}{,}{,}{,}{,}{,}{,}
only '"join"' share{,}{,}{,}{,}{,}{,}{,}
only '"deepen"' add
holds 'sum(x["continued"] for x in p) == 200 * 40 - 1'

# Threads and processes.
record 7 threads
holds 'gemm["calls"] == 80 and gemm["callers"] >= 1'
record 7 general fork
holds 'sorted(x["calls"] for x in j["processes"]) == [40, 40]'
holds '[x["exited"] for x in j["processes"]].count(False) == 1 and len(j["notes"]) == 1'
record 137 kill
holds 'gemm["calls"] == 40 and j["exit_code"] == 137 and not j["processes"][0]["exited"]'
record 7 exec
holds 'gemm["calls"] == 80 and len({x["process"] for x in j["processes"]}) == 1'
record 7
holds 'p == [] and j["rest_share"] == 1 and "No call was seen" in j["notes"][0]'

# A relative folder of temporary files, a program that leaves its directory, and names that are no UTF-8.
mkdir -p elsewhere
cp "$program" elsewhere/$'p\xe9'
before=$TMPDIR tried=$program
TMPDIR=. program=bash
record 7 -c $'cd elsewhere && exec ./p\xe9 general' $'\xe9'
TMPDIR=$before
holds 'j["calls"] == 40 and j["processes"][0]["program"] == "p\ufffd" and j["program"].endswith("\ufffd")'
# A process without room for a file of counts goes on: a write to mapped memory without room is a signal.
record 7 -c "ulimit -f 8; exec '$tried' general threads"
holds 'j["calls"] == 0 and any("could not be read: 1" in note for note in j["notes"])'
program=$tried

# Advice is measured: syrk needs half the operations, and a batch fewer calls.
options=(--trial)
record 7 single{,}{,}{,}{,}{,}{,}{,}
holds 'next(x for x in j["advice"] if x["advice"] == "single")["trial"]["gain"] > 1'
holds '1e-9 < next(x for x in j["advice"] if x["advice"] == "single")["trial"]["error"] < 1e-4'
options=()

# Changes between two runs.
record 7 general ddot
mv run.json before.json
record 7 general general syrk
"$tesela" report before.json run.json --json >changes.json
python3 - <<'PYTHON' || fail "changes"
import json
j = json.load(open("changes.json"))
found = {x["routine"]: (x["outcome"], x["calls_before"], x["calls"]) for x in j["changes"]}
assert found["cblas_dsyrk"] == ("new", 0, 40) and found["cblas_ddot"] == ("gone", 40, 0), found
assert found["cblas_dgemm"][1:] == (40, 80), found
assert (j["calls_before"], j["calls"]) == (80, 120)
PYTHON
"$tesela" report before.json run.json >changes.txt
grep -q '^gone  *cblas_ddot' changes.txt || fail "changes as text"
"$tesela" report run.json | grep -q 'cblas_dsyrk  *48 x 48 x 48' || fail "a report as text"

# Numbers that are missing in a report of another program's.
echo '{"products": [{"routine": "x", "share": null, "seconds": null}], "processes": [], "notes": [1],
       "seconds": 1, "rest_share": null}' >partial.json
"$tesela" report partial.json >partial.txt
sed 's/"routine": "x", //' partial.json >nameless.json
"$tesela" report partial.json nameless.json >>partial.txt
! grep -qE 'nan|null' partial.txt || fail "numbers and names that are not known: $(cat partial.txt)"

# Errors: a missing program, a folder that is missing, and a file without a report.
! "$tesela" run --report run.json -- ./nowhere 2>messages.txt || fail "no program"
grep -q '^tesela run: ./nowhere: No such file' messages.txt || fail "no program"
! "$tesela" run --report nowhere/run.json -- "$program" 2>messages.txt || fail "no folder"
echo '{}' >empty.json
! "$tesela" report empty.json 2>messages.txt || fail "no report"
grep -q 'is not a report' messages.txt || fail "no report"
! "$tesela" run --trial -- "$program" 2>messages.txt || fail "--trial alone"

# The page: right text and data, in a browser if there is one, and in another language.
drawn() {
  local code=0
  python3 "$@" >messages.txt 2>&1 || code=$?
  [ "$code" = 0 ] || [ "$code" = 77 ] || fail "$*"
}
"$tesela" run --report run.html -- "$program" transposed ddot fork 2>messages.txt || true
drawn "$source/tests/cli/page.py" run.html
drawn "$source/tests/page/browser.py" run.html
for tag in ${TESELA_ALL_PAGES:+sl es hu} zh-CN; do
  "$tesela" run --report run.html --locale "${tag%-CN}" -- "$program" transposed share fork \
    2>messages.txt || true
  drawn "$source/tests/page/languages.py" run.html "$tag"
done
