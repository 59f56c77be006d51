#!/usr/bin/env bash
# tesela run: the program gets the drop-in before the entries of LD_PRELOAD, and its own arguments. The exit
# code is the program's.
. "$(dirname "$0")/helper.sh"
[ -z "${TESELA_SANITIZED:-}" ] || skip "a sanitizer's library has to be the first that is preloaded"

tesela 0 run -- sh -c 'echo "$LD_PRELOAD|$TESELA_LOG|$1|$2"' name --log 'two words'
grep -qE '/libtesela_blas\.so\.[0-9.]+\|\|--log\|two words$' "$out" ||
  fail "the program's environment or arguments"

# Earlier entries of LD_PRELOAD remain, after the drop-in.
last="tesela run with LD_PRELOAD"
library=$(find /lib/ /lib64/ -name libm.so.6 2>/dev/null | sed -n 1p)
seen=$(LD_PRELOAD=$library TESELA_LOG=plan "$TESELA" run --log -- sh -c 'echo "$LD_PRELOAD|$TESELA_LOG"')
case $seen in */libtesela_blas.so.*":$library|calls,plan") ;; *) \
  fail "LD_PRELOAD and TESELA_LOG: $seen" ;; esac

# Options end at the program, with -- or without.
run 0 "$TESELA" run --device cpu sh -c 'echo "$TESELA_DEVICE|$1|$2"' name --log -o
grep -qx 'cpu|--log|-o' "$out" || fail "the program's own options: $(cat "$out")"

# Exit codes and signals are the program's own.
run 0 "$TESELA" run -- true
run 7 "$TESELA" run -- sh -c 'exit 7'
run 143 "$TESELA" run -- sh -c 'kill -TERM $$'

# A program without BLAS is reported once, and not for the programs that it starts.
run 0 "$TESELA" run -- true
[ ! -s "$err" ] || fail "something was printed without --log"
run 0 "$TESELA" run --log -- true
grep -qxE 'tesela: no BLAS calls of true \(process [0-9]+\)' "$err" || fail "that there were no calls"
run 0 "$TESELA" run --log -- bash -c 'ls / >/dev/null; ls / >/dev/null; exit 0'
[ "$(grep -c 'no BLAS calls' "$err")" = 1 ] || fail "one line about the program"
grep -q 'no BLAS calls of bash ' "$err" || fail "the program's name"

# The device is the program's TESELA_DEVICE.
seen=$(TESELA_DEVICE=cpu "$TESELA" run --device auto -- sh -c 'echo "$TESELA_DEVICE"')
[ "$seen" = auto ] || fail "TESELA_DEVICE is $seen"
seen=$(TESELA_DEVICE=cpu "$TESELA" run -- sh -c 'echo "$TESELA_DEVICE"')
[ "$seen" = cpu ] || fail "TESELA_DEVICE is $seen without --device"
# A missing device is reported before the program starts.
for device in opencl:97 cpu:1 cuda:97 'opencl:97,cpu'; do
  tesela 3 run --device "$device" -- sh -c 'echo started'
  says --device 'there is no device'
  [ ! -s "$out" ] || fail "the program started"
done
TESELA_DEVICE=opencl:97 tesela 3 run -- sh -c 'echo started'
says TESELA_DEVICE 'there is no device opencl:97'
tesela 2 run --device gpu -- sh -c 'echo started'
says --device '"gpu"'
tesela 2 run --device '' -- true
says --device

tesela 2 run
says "too few"
tesela 2 run -- ./no-such-program
says ./no-such-program "No such file"
tesela 2 run --lag -- true
says --log

# A moved tool without its library tells where it should be.
cp "$TESELA" alone
run 2 ./alone run -- true
says libtesela_blas.so "../lib"
