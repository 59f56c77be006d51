#!/usr/bin/env bash
# Products by blocks that are interrupted, killed, or fail. Finished blocks are kept and reused, no file with
# the final name appears early, and blocks whose inputs changed are not reused.
. "$(dirname "$0")/helper.sh"
export TESELA_DEVICE=cpu
python=$(python_with signal)
[ -n "$python" ] || skip "needs Python 3"

matrix a.npy 600x1000 --type f64
matrix b.npy 1000x550 --type f64 --seed 2
matrix c0.npy 600x550 --type f64 --seed 3
work=(multiply a.npy b.npy --add c0.npy --beta 0.5 --strategy host_packed --threads 1)
tesela 0 "${work[@]}" -o whole.npy
# Multiplies each block 300 times: slow enough on any machine to be interrupted.
slow=("${work[@]}" --repeat 300)

left() { [ -e "$1.tesela-part" ] && [ -e "$1.tesela-journal" ]; }
noted() {
  local count
  count=$(grep -c '^done ' "$1.tesela-journal" 2>/dev/null) || true
  echo "${count:-0}"
}
gone() { absent "$1.tesela-part" "$1.tesela-journal"; }

# start ARGUMENTS...: in the background, with interrupts as a terminal's program has them.
start() {
  last="$TESELA $*"
  "$python" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$TESELA" "$@" >"$out" 2>"$err" &
  child=$!
}

# await_blocks FILE N: until so many are noted, or the process has ended.
await_blocks() {
  for _ in $(seq 1000); do
    [ "$(noted "$1")" -lt "$2" ] || return 0
    kill -0 "$child" 2>/dev/null || return 0
    sleep 0.03
  done
  fail "waited for $2 blocks of $1"
}

# Killed repeatedly, at any moment, and resumed: in the end the file is complete and right. Every second run
# compares blocks, beginning with the blocks of earlier runs.
kills=0 older=0
for round in $(seq 12); do
  expect=()
  [ $((round % 2)) = 1 ] || expect=(--expect whole.npy)
  start "${slow[@]}" -o killed.npy --memory 300KiB --resume --quiet "${expect[@]}"
  sleep "$(printf 0.%02d $((round * 7 % 19 + 5)))"
  kill -9 "$child" 2>/dev/null || true
  code=0
  { wait "$child"; } 2>/dev/null || code=$?
  [ "$code" != 0 ] || break
  [ "$code" = 137 ] || fail "exit code $code"
  [ ! -e killed.npy ] || fail "the file appeared before it was done"
  now=$(noted killed.npy)
  [ "$now" -ge "$older" ] || fail "blocks were lost: $older, then $now"
  older=$now kills=$((kills + 1))
done
[ "$code" = 0 ] || tesela 0 "${work[@]}" -o killed.npy --memory 300KiB --resume --quiet --expect whole.npy
same killed.npy whole.npy
gone killed.npy
[ "$kills" -ge 2 ] || fail "killed only $kills times"

# A half-written line, and anything behind it, counts for nothing; more memory changes nothing.
interrupt() {
  start "${slow[@]}" -o c.npy --memory 300KiB
  await_blocks c.npy 1
  kill "-$1" "$child" 2>/dev/null || fail "it was done too early"
  code=0
  { wait "$child"; } 2>/dev/null || code=$?
}
interrupt INT
[ "$code" = 130 ] || fail "exit code $code after an interrupt"
says 'interrupted; the finished blocks are kept' --resume
left c.npy || fail "nothing is left"
absent c.npy
before=$(noted c.npy)
printf 'done 9' >>c.npy.tesela-journal
tesela 0 "${work[@]}" -o c.npy --resume --json
json 'j["blocks"]["resumed"] == '"$before"' and j["blocks"]["count"] > j["blocks"]["resumed"]'
same c.npy whole.npy
gone c.npy

# Without --resume, unfinished files are reported and kept. So are another product, changed inputs and damaged
# files.
interrupt TERM
rm c.npy
tesela 2 "${work[@]}" -o c.npy --memory 300KiB
says 'an earlier run was interrupted' --resume c.npy.tesela-journal
tesela 2 multiply a.npy b.npy --add c0.npy --beta 0.25 -o c.npy --memory 300KiB --resume
says 'another operation, type or factor'
tesela 3 "${work[@]}" -o c.npy --memory 10KiB --resume
says 'that were begun do not fit'
left c.npy || fail "a refusal removed what was left"
cp -p a.npy kept.npy
touch a.npy
tesela 2 "${work[@]}" -o c.npy --memory 300KiB --resume
says 'other inputs' 'a.npy changed (it was'
touch -r kept.npy a.npy
cp c.npy.tesela-part part && truncate -s -8 c.npy.tesela-part
tesela 2 "${work[@]}" -o c.npy --memory 300KiB --resume
says 'does not have the size in its journal'
mv part c.npy.tesela-part
# While another process holds the journal, no second process uses it.
run 2 "$python" -c 'import fcntl, subprocess, sys
with open(sys.argv[1]) as journal:
    fcntl.flock(journal, fcntl.LOCK_EX)
    sys.exit(subprocess.run(sys.argv[2:]).returncode)' c.npy.tesela-journal "$TESELA" "${work[@]}" -o c.npy \
      --resume
says 'another process is writing it'
tesela 0 "${work[@]}" -o c.npy --memory 300KiB --resume
same c.npy whole.npy
gone c.npy
rm c.npy

# A file that is cut short, or changed, while it is read.
start "${slow[@]}" -o c.npy --memory 300KiB
await_blocks c.npy 1
truncate -s 1000000 a.npy
code=0
wait "$child" || code=$?
[ "$code" = 2 ] || fail "exit code $code after a file was cut short"
one_sentence
says 'a.npy' 'blocks of c.npy are kept, which are of the inputs as they were'
absent c.npy
cp -p kept.npy a.npy
tesela 0 "${work[@]}" -o c.npy --memory 300KiB --resume
same c.npy whole.npy
gone c.npy

# A change of the file for --expect is an error too. No block is made of it, so the run resumes.
cp whole.npy expected.npy
rm c.npy
start "${slow[@]}" -o c.npy --memory 300KiB --expect expected.npy
await_blocks c.npy 1
truncate -s 1000000 expected.npy
code=0
wait "$child" || code=$?
[ "$code" = 2 ] || fail "exit code $code after the expected file was cut short"
one_sentence
says 'expected.npy' 'blocks of c.npy are kept'
absent c.npy
cp whole.npy expected.npy
tesela 0 "${work[@]}" -o c.npy --memory 300KiB --resume --expect expected.npy --json
json 'j["blocks"]["resumed"] > 0 and j["expected"]["agrees"]'
same c.npy whole.npy
gone c.npy

# A file that may not grow so large, and a full disk: told before anything is multiplied, and nothing is left.
rm c.npy
run 3 bash -c 'ulimit -f 1500; exec "$@"' bash "$TESELA" "${work[@]}" -o c.npy --memory 300KiB
one_sentence
says 'there is no room for its 2.52 MiB'
gone c.npy
absent c.npy
if [ "$(id -u)" = 0 ] && mkdir disk && mount -t tmpfs -o size=1m none disk 2>/dev/null; then
  code=0
  "$TESELA" "${work[@]}" -o disk/c.npy --memory 300KiB >"$out" 2>"$err" || code=$?
  names=$(ls -A disk)
  umount disk
  [ "$code" = 3 ] || fail "exit code $code on a full disk"
  says 'there is no room for its 2.52 MiB' 'No space left'
  [ -z "$names" ] || fail "left on a full disk: $names"
fi

# An output that is not written by blocks cannot be resumed, and the message says so.
tesela 2 "${work[@]}" -o c.csv --resume
says --resume .npy
tesela 2 "${work[@]}" --resume
says --resume
