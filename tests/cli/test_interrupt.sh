#!/usr/bin/env bash
# An interrupt loses no result: the measurements so far are printed, marked as cut short, and the process ends
# by the signal.
. "$(dirname "$0")/helper.sh"
export TESELA_WISDOM=$scratch/wisdom

# start ARGUMENTS...: runs the tool in the background with a terminal program's handling of interrupts (a
# script's children ignore them).
start() {
  last="$TESELA $*"
  "$(python_with signal)" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$TESELA" "$@" >"$out" 2>"$err" &
  child=$!
}

# finish SIGNAL CODE: the command ends after the signal, with this code.
finish() {
  local code=0
  kill "-$1" "$child"
  wait "$child" || code=$?
  [ "$code" = "$2" ] || fail "exit code $code instead of $2"
}

# await CONDITION...: until the command holds; a minute at most.
await() {
  for _ in $(seq 600); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.1
  done
  fail "waited a minute for: $*"
}
lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }

start tune 200 200 200 --device cpu --budget 1h --search exhaustive --cache measured
await lines measured 4
finish INT 130
prints 'CUT SHORT by an interrupt' 'best' 'wisdom'
tesela 0 wisdom list
prints 'gemm '

start tune 200 200 200 --device cpu --budget 1h --search exhaustive --cache again --json
await lines again 4
finish INT 130
json 'j["cut_short"] and not j["complete"] and j["tried"] >= 4 and j["wisdom"]["file"].endswith("wisdom")'

start tune 200 200 200 --device cpu --budget 1h --search exhaustive --cache ended
await lines ended 4
finish TERM 143
[ ! -s "$out" ] || fail "a request to end is not waited with"

# The first size takes a moment, the others far longer than the test waits. A busy machine gets a second and a
# third chance.
sizes=32,900,901,902,903,904,905,906,907,908,909,910,911,912
for seconds in 4 16 60; do
  start explore --sizes $sizes --types f32,f64 --devices cpu --strategies sequential --time-limit 1h \
    --html page.html --json
  sleep $seconds
  finish INT 130
  ! grep -q interrupted "$err" || continue
  break
done
json 'j["cut_short"] and j["entries"][0]["result"] == "right"
  and j["entries"][-1]["why"].startswith("cut short")'
grep -q 'CUT SHORT by an interrupt: ' page.html || fail "the page does not tell"

# An interrupt does not wait for a run that takes minutes: the measurements before the run are printed.
for seconds in 2 8 30; do
  start explore --sizes 32,4000 --types f32 --devices cpu --strategies sequential --time-limit 1h --json
  sleep $seconds
  kill -INT "$child"
  for _ in $(seq 300); do
    kill -0 "$child" 2>/dev/null || break
    sleep 0.1
  done
  ! kill -0 "$child" 2>/dev/null || { kill -9 "$child"; fail "an interrupt waits for a run of minutes"; }
  code=0
  wait "$child" || code=$?
  [ "$code" = 130 ] || fail "exit code $code instead of 130"
  ! grep -q interrupted "$err" || continue
  break
done
json 'j["cut_short"] and j["entries"][0]["result"] == "right"
  and j["entries"][1]["why"].startswith("cut short")'

# An unwritable wisdom file is reported before the search. A folder that disappears meanwhile loses no result.
mkdir -p place && : >place/file
TESELA_WISDOM=$PWD/place/file/wisdom tesela 3 tune 64 64 64 --device cpu --budget 1h
says 'the results cannot be saved'
mkdir gone
export TESELA_WISDOM=$PWD/gone/wisdom
start tune 200 200 200 --device cpu --budget 1h --search exhaustive --cache third
await lines third 4
rm -rf gone && : >gone
finish INT 130
prints 'CUT SHORT' 'NOT KEPT: ' 'best'
says 'gone/wisdom'
