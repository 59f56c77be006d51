#!/usr/bin/env bash
# The commands of docs/COURSES.md, in order and in one folder, as they stand there.
. "$(dirname "$0")/helper.sh"
kernel_devices | grep -q '^opencl:0$' || fail "there is no OpenCL device"
mkdir bin
ln -s "$TESELA" bin/tesela
PATH=$PWD/bin:$PATH
sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$TESELA_SOURCE/docs/COURSES.md" >commands
[ "$(wc -l <commands)" -ge 20 ] || fail "the document has hardly a command"
while IFS= read -r command; do
  last=$command
  bash -euo pipefail -c "$command" >"$out" 2>"$err" </dev/null || fail "exit code $?"
  [ ! -s "$err" ] || fail "stderr is not silent"
  cat "$out" >>all
done <commands
cp all "$out"
# What the document says comes out.
prints 'agrees with expected.txt' 'right: all' 'step 2 of 2' 'Idea: the work-group loads a TILE x TILE tile' \
  '#define TSL_PARAM_TILE 4' 'beside the rung below' 'items=250' 'element relaxed=1'
sed -n '/^step 1 of 2$/,/^```$/{/^```/d;p}' "$TESELA_SOURCE/docs/COURSES.md" | while IFS= read -r line; do
  grep -qxF -- "$line" all || fail "the drawing lacks: $line"
done
