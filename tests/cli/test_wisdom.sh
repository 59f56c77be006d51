#!/usr/bin/env bash
# Wisdom: kept, shown, merged, forgotten, and what explain, multiply and the log make of it.
. "$(dirname "$0")/helper.sh"
export TESELA_WISDOM=$scratch/wisdom
tesela 0 wisdom list
prints "0 records" "$scratch/wisdom"

# A record for the cpu that is here: its key and units are in the log.
TESELA_LOG=plan TESELA_WISDOM=$scratch/other run 0 bash -c '
  echo "gemm sequential version=1 key=elsewhere units=1 m=112 n=112 k=112 types=f32,f32,f32 layout=rrr beta=0 seconds=1 spread=0 date=2026-01-01T00:00:00Z" >$TESELA_WISDOM
  "$TESELA" explain 112 112 112 --device cpu'
says 'records are of other devices than cpu'
key=$(sed -n 's/.*other devices than cpu (\([^ ]*\), \([0-9]*\) units).*/key=\1 units=\2/p' "$err" | head -1)
[ -n "$key" ] || fail "the log does not tell the key"
"$TESELA" strategies --json >"$out"
version=$("$(python_with json)" -c 'import json, sys
print(next(s["version"] for s in json.load(open(sys.argv[1]))["strategies"] if s["op"] == "gemm" and s["name"] == "sequential"))' "$out")
class="types=f32,f32,f32 layout=rrr beta=0"
# As fast as anybody would believe of this machine, and faster than any strategy is.
"$TESELA" devices --json >"$out"
fast=$("$(python_with json)" -c 'import json, sys
print(2 * 112**3 / (3.5 * next(d["estimated_flops_f32"] for d in json.load(open(sys.argv[1]))["devices"] if d["name"] == "cpu")))' "$out")
cat >records <<END
# of this machine
gemm sequential version=$version $key m=112 n=112 k=112 $class seconds=$fast spread=0.01 date=2026-01-01T00:00:00Z
gemm sequential version=$version key=elsewhere units=1 m=112 n=112 k=112 $class seconds=1 spread=0.01 date=2026-01-01T00:00:00Z
gemm sequential version=99999 $key m=112 n=112 k=112 $class seconds=1 spread=0.01 date=2026-01-01T00:00:00Z
gemm forgotten_idea version=1 $key m=112 n=112 k=112 $class seconds=1 spread=0.01 date=2026-01-01T00:00:00Z
nonsense
END
run 0 "$TESELA" wisdom import records
prints '4 added' '1 line left out'
says 'note: records: 1 line is left out; line 6: ' 'starts with an operation'
run 0 "$TESELA" wisdom import records --json
json 'j["added"] == 0 and j["replaced"] == 0 and j["kept"] == 4 and j["unreadable"] == 1'
tesela 0 wisdom list
prints '4 records, 1 of use' 'gemm sequential' 'of another device' 'version 99999 of sequential is retired' \
  'no strategy gemm forgotten_idea'
tesela 0 wisdom list --json
json 'j["count"] == 4 and j["used"] == 1 and [e["device"] for e in j["entries"] if e["unused"] is None]
  == ["cpu"]'
tesela 0 wisdom list --device cpu --strategy sequential --json
json 'j["count"] == 2 and all(e["strategy"] == "sequential" for e in j["entries"])'
tesela 0 wisdom list --shipped --json
json 'all(e["origin"] in ("yours", "shipped") for e in j["entries"])'

# The slowest strategy is the best after a record claims so.
tesela 0 explain 112 112 112 --device cpu
prints 'by wisdom: measured at these sizes' 'gemm sequential'
tesela 0 explain 112 112 112 --device cpu --json
json 'all((c["predicted_by"] == "wisdom") == (c["strategy"] == "sequential") for c in j["candidates"])'
json "abs(j['predicted_seconds'] / $fast - 1) < 1e-3 and j['plan'].startswith('gemm sequential ')"
tesela 0 explain 112 112 128 --device cpu --json
json 'next(c for c in j["candidates"] if c["chosen"])["predicted_by"] == "near wisdom" and '"0.5 * $fast"' < j["predicted_seconds"] < 1.5 * '"$fast"
tesela 0 explain 112 112 100 --device cpu --json
json 'all(c["predicted_by"] == "model" for c in j["candidates"] if c["strategy"] == "sequential")'
tesela 0 explain 112 112 112 --device cpu --beta 1 --json
json 'all(c["predicted_by"] == "model" for c in j["candidates"] if c["strategy"] == "sequential")'
TESELA_WISDOM=none tesela 0 explain 112 112 112 --device cpu --json
json 'all(c["predicted_by"] == "model" for c in j["candidates"] if c["strategy"] == "sequential")'
TESELA_LOG=plan run 0 "$TESELA" explain 112 112 112 --device cpu
says 'best of' 'predicted by wisdom' 'is retired' 'line 3 is ignored'

# An impossible speed is refused at the import, and ignored in the file. Both are reported.
for seconds in 1e-300 1e-10 1e-8; do
  echo "gemm sequential version=$version $key m=112 n=112 k=112 $class seconds=$seconds spread=0.01 date=2027-01-01T00:00:00Z" >lie
  tesela 2 wisdom import lie
  says 'lie: none of its 1 line is a record that can be taken; line 1: '
  TESELA_WISDOM=$PWD/lie run 0 "$TESELA" explain 112 112 112 --device cpu --json
  json 'all(c["predicted_by"] == "model" for c in j["candidates"] if c["strategy"] == "sequential")'
  says 'note: wisdom: '
done
echo 'what is this' >garbage
tesela 2 wisdom import garbage
says 'garbage: none of its 1 line is a record'
TESELA_WISDOM=$PWD/garbage run 0 "$TESELA" explain 112 112 112 --device cpu
says 'note: wisdom: ' 'garbage: 1 line is no record; the first is line 1'

matrix a.npy 112x112
tesela 0 multiply a.npy a.npy --device cpu --json
json 'j["plan"].startswith("gemm sequential ")'
TESELA_WISDOM=none tesela 0 multiply a.npy a.npy --device cpu --json
json 'not j["plan"].startswith("gemm sequential ")'

tesela 0 wisdom export --strategy sequential --device cpu
[ "$(wc -l <"$out")" = 2 ] || fail "not two records"
tesela 0 wisdom export out.txt
prints 'out.txt: 4 added'
[ ! -e out.txt.lock ] || fail "a lock was left behind"
for text in 'a letter to a friend' '# a script with a comment' "$(head -n 1 out.txt)"$'\nand a word'; do
  printf '%s\n' "$text" >letter
  cp letter letter.before
  tesela 2 wisdom export letter
  says 'letter is no wisdom, and export writes a new file or merges into wisdom'
  cmp letter letter.before || fail "the letter was changed"
done
mkfifo fifo
tesela 3 wisdom export fifo
tesela 2 wisdom import fifo
says 'no regular file'
tesela 3 wisdom export no/such/folder/out.txt
[ ! -e no ] || fail "a folder was made"
[ -z "$(ls -d ./*.lock ./*.tmp 2>/dev/null)" ] || fail "a file was left behind"
tesela 0 wisdom export out.txt --json
json 'j["added"] == 0 and j["kept"] == 4'
tesela 0 wisdom forget --stale
prints 'removed 2 records'
tesela 0 wisdom forget --device cpu --json
json 'j["removed"] == 1'
tesela 0 wisdom import out.txt
prints '3 added'
tesela 0 wisdom forget --all
prints 'removed 4 records'
[ ! -e "$scratch/wisdom.tmp" ] || fail "a temporary file was left behind"

tesela 2 wisdom forget
says '--all'
tesela 2 wisdom forget --all --stale
tesela 2 wisdom import
tesela 2 wisdom import nothing.txt
says nothing.txt 'No such file'
tesela 2 wisdom forgte
says 'did you mean forget?'
TESELA_WISDOM=none tesela 2 wisdom list
says 'switched off'
TESELA_WISDOM=/proc/tesela/wisdom tesela 3 wisdom import out.txt
printf 'a\0b\n' >zero
tesela 2 wisdom import zero
says 'zero byte'
