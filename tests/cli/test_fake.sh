#!/usr/bin/env bash
# A device that fails on demand: exit code 3, a sentence, no output, an older output as it was.
. "$(dirname "$0")/helper.sh"
[ -x "${TESELA_WITH_FAKE:-}" ] || fail "the tool with the fake device was not built"
matrix a.npy 30x40
matrix b.npy 40x20
matrix c0.npy 30x20
export TESELA_SELFTEST=0 # calls are counted, those of a first use would come between
operands=(a.npy b.npy --add c0.npy --alpha 1.5 --device fake:0)

# fake OPERATION INNER [HIDDEN]: expects that OPERATION is called, and that the tool survives each failing
# call.
fake() {
  local operation=$1 inner=$2 hidden=${3:-} nth code failures=0
  for nth in 1 2 3 4 5 6 7 8; do
    echo old >old.npy
    code=0
    last="TESELA_FAKE=$operation:$nth TESELA_FAKE_INNER=$inner TESELA_FAKE_HIDE=$hidden multiply"
    TESELA_FAKE=$operation:$nth TESELA_FAKE_INNER=$inner TESELA_FAKE_HIDE=$hidden "$TESELA_WITH_FAKE" \
      multiply \
      "${arguments[@]}" -o old.npy --verify >"$out" 2>"$err" || code=$?
    absent
    [ $code = 0 ] && break
    [ $code = 3 ] || fail "exit code $code instead of 3"
    head -1 "$err" | grep -q '^tesela multiply: .*fake:0' || fail "no sentence that names the device"
    grep -q 'on demand' "$err" || fail "the sentence does not tell the device's reason"
    [ ! -s "$out" ] || fail "a failed run printed a report"
    [ "$(cat old.npy)" = old ] || fail "the older output was touched"
    failures=$((failures + 1))
  done
  [ $code = 0 ] || fail "$operation fails for ever"
  cmp -s old.npy right.npy || fail "a run without failure gave another product"
  [ $failures -gt 0 ] || fail "no call of $operation was reached"
  echo "$operation on $inner: $failures failures"
}

arguments=("${operands[@]}" --strategy sequential)
TESELA_FAKE_INNER=cpu run 0 "$TESELA_WITH_FAKE" multiply "${arguments[@]}" -o right.npy
fake open cpu
for device in $(kernel_devices); do
  arguments=("${operands[@]}" --strategy element)
  TESELA_FAKE_INNER=$device run 0 "$TESELA_WITH_FAKE" multiply "${arguments[@]}" -o right.npy
  for operation in open build load stream launch event finish; do fake $operation "$device"; done
  for operation in allocation copy_in copy_out; do fake $operation "$device" SHARED_MEMORY; done
  # The compiler's messages follow the error sentence. A planner without a named strategy takes another one.
  TESELA_FAKE=build:1 TESELA_FAKE_INNER=$device run 3 "$TESELA_WITH_FAKE" multiply "${arguments[@]}"
  TESELA_FAKE=build:1 TESELA_FAKE_INNER=$device run 0 "$TESELA_WITH_FAKE" multiply a.npy b.npy \
    --device fake:0 --verify
  TESELA_FAKE=launch:1+ TESELA_FAKE_INNER=$device run 3 "$TESELA_WITH_FAKE" check --device fake:0 \
    --case standard:50 \
    --strategy element
  grep -q '^FAILED' "$out" || fail "check does not report what failed"
  TESELA_FAKE=launch:1+ TESELA_FAKE_INNER=$device run 3 "$TESELA_WITH_FAKE" explore --devices fake:0 \
    --sizes 16 \
    --strategies element --types f32
  grep -q 'failed' "$out" || fail "explore does not report what failed"
  TESELA_FAKE=build:1+ TESELA_FAKE_INNER=$device run 3 "$TESELA_WITH_FAKE" cache prefill --device fake:0 \
    --type f32
  break
done
