#!/usr/bin/env bash
# On a terminal: colour, wrapping and a progress line; NO_COLOR is respected.
. "$(dirname "$0")/helper.sh"
unset NO_COLOR
export TERM=xterm
command -v script >/dev/null || skip "needs script(1), which makes a terminal (Debian: bsdutils)"

# terminal COLUMNS COMMAND: stores the terminal's output in $out.
terminal() {
  last="$2 (on a terminal of $1 columns)"
  script -qec "stty cols $1 rows 24; $2" /dev/null >"$out" 2>&1 </dev/null || fail "exit code $?"
}
escape=$(printf '\033')
narrower() { sed "s/$escape\\[[0-9;]*[mK]//g" "$out" | tr -d '\r' |
  awk -v most="$1" '{ if (length > most) { print; exit 1 } }'; }

for width in 80 120; do
  for command in devices strategies 'explain 1000 300 700' 'help environment' '--help'; do
    terminal $width "'$TESELA' $command"
    narrower $width || fail "a line is wider than the terminal's $width columns"
    grep -q "$escape\[" "$out" || fail "no colour on a terminal"
  done
done
NO_COLOR=1 terminal 80 "'$TESELA' strategies"
if grep -q "$escape" "$out"; then fail "colour in spite of NO_COLOR"; fi
TERM=dumb terminal 80 "'$TESELA' strategies"
if grep -q "$escape" "$out"; then fail "colour on a terminal that says it is dumb"; fi
tesela 0 strategies
if grep -q "$escape" "$out"; then fail "colour without a terminal"; fi

# Bytes of a matrix are not for a terminal.
terminal 80 "'$TESELA' generate 2x2 -o - --format npy || true"
if grep -q NUMPY "$out"; then fail "npy was written to a terminal"; fi

# Work of more than a second shows a progress line there, and wipes it.
matrix a.npy 500x500
terminal 80 "'$TESELA' multiply a.npy a.npy --device cpu --strategy sequential --repeat 5 --quiet"
grep -q '%' "$out" || fail "no progress line after more than a second of work"
grep -q "$escape\[K\$" "$out" || tail -c 8 "$out" | grep -q "$escape\[K" ||
  fail "the progress line was not wiped"
narrower 100000 || true
tesela 0 multiply a.npy a.npy --device cpu --strategy sequential --repeat 5 --quiet
