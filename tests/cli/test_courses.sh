#!/usr/bin/env bash
# The commands in COURSES.md, COURSES_FAULTS.md and README.md print the text in these pages, but for numbers.
. "$(dirname "$0")/helper.sh"
kernel_devices | grep -q '^opencl:0$' || fail "there is no OpenCL device"
python=$(python_with tempfile)
[ -n "$python" ] || skip "needs Python 3"
mkdir bin
ln -s "$TESELA" bin/tesela
PATH=$PWD/bin:$PATH
export TESELA_SOURCE
outputs() { "$python" "$TESELA_SOURCE/ci/document_outputs.py" "$@" >"$out" 2>"$err"; }

last="the commands of docs/COURSES.md"
outputs "$TESELA_SOURCE/docs/COURSES.md" || fail "docs/COURSES.md does not say what comes out"
commands=$(sed -n 's/.*: \([0-9]*\) commands.*/\1/p' "$out")
[ "$commands" -ge 50 ] || fail "the document has $commands commands"

last="the commands of docs/COURSES_FAULTS.md"
outputs "$TESELA_SOURCE/docs/COURSES_FAULTS.md" || fail "COURSES_FAULTS.md: other output"

last="the commands of README.md"
outputs "$TESELA_SOURCE/README.md" || fail "README.md does not say what comes out"

# Every option that the manual gives to a command is in the command's help.
last="options in the manual"
checked=0
while read -r _ command words; do
  [ -s "help.$command" ] || "$TESELA" "$command" --help >"help.$command" || fail "no command $command"
  for option in $(grep -oE -e '--[a-z][a-z-]+' <<<"${words%% -- *}"); do
    grep -qE -e "$option([^a-z-]|\$)" "help.$command" || fail "tesela $command has no option $option"
    checked=$((checked + 1))
  done
done < <(cat "$TESELA_SOURCE"/docs/*.md "$TESELA_SOURCE/README.md" |
  grep -oE '(^|[^[:alnum:]_/.-])tesela [a-z]+ [^`|#;]*--[a-z][^`|#;]*' | sed 's/^[^t]*tesela /tesela /')
[ "$checked" -ge 100 ] || fail "the manual has $checked options"

# The comparison finds a wrong count, a wrong word and a failure, and accepts other measurements.
differs() {
  last=$1
  printf '```console\n$ tesela generate 4x6 -o a.txt --seed 1\n%s\n```\n' "$1" >wrong.md
  if outputs wrong.md; then fail "taken for what comes out"; fi
}
differs 'a.txt: 4 x 7, f32, normal, seed 1'
differs 'a.txt: 4 x 6, f64, normal, seed 1'
differs $'a.txt: 4 x 6, f32, normal, seed 1\n$ tesela generate nonsense'
printf '| command | what came out |\n|---|---|\n| `%s` | `%s` |\n' \
  'echo took 3.1 ms for 4 items, MFLOP/s' 'took 99 us for 4 items, GFLOP/s' >right.md
outputs right.md || fail "a time is a measurement"
outputs right.md --write || fail "writing fails"
grep -qF '`took 3.1 ms for 4 items, MFLOP/s` |' right.md || fail "the output is not written: $(cat right.md)"
