#!/usr/bin/env bash
# tesela run: the program gets the drop-in in front of what LD_PRELOAD holds, its own arguments, and keeps its exit code.
. "$(dirname "$0")/helper.sh"
[ -z "${TESELA_SANITIZED:-}" ] || skip "a sanitizer's library has to be the first that is preloaded"

tesela 0 run -- sh -c 'echo "$LD_PRELOAD|$TESELA_LOG|$1|$2"' name --log 'two words'
grep -qE '/libtesela_blas\.so\.[0-9.]+\|\|--log\|two words$' "$out" || fail "the program's environment or arguments"

# What was there stays, behind.
last="tesela run with LD_PRELOAD"
library=$(find /lib/ /lib64/ -name libm.so.6 2>/dev/null | sed -n 1p)
seen=$(LD_PRELOAD=$library TESELA_LOG=plan "$TESELA" run --log -- sh -c 'echo "$LD_PRELOAD|$TESELA_LOG"')
case $seen in */libtesela_blas.so.*":$library|calls,plan") ;; *) fail "LD_PRELOAD and TESELA_LOG: $seen" ;; esac

# Exit codes and signals are the program's own.
run 0 "$TESELA" run -- true
run 7 "$TESELA" run -- sh -c 'exit 7'
run 143 "$TESELA" run -- sh -c 'kill -TERM $$'

# Nothing is printed for a program without BLAS.
run 0 "$TESELA" run --log -- true
[ ! -s "$err" ] || fail "a table without calls"

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
