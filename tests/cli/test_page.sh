#!/usr/bin/env bash
# --html: a complete page with and without gnuplot, for any behaviour of gnuplot. Outputs follow the rules of
# every other command.
. "$(dirname "$0")/helper.sh"
python=$(python_with html.parser)
[ -n "$python" ] || skip "needs Python 3"
export TESELA_CUDA=none
few=(--types f32 --seconds 0.01 --devices cpu)

# page FILE PICTURES SECTIONS...
page() {
  last="the page $1"
  "$python" "$TESELA_SOURCE/tests/cli/page.py" "$@" >"$out" 2>"$err" || fail "the page $1"
}
has() {
  local file=$1 words
  shift
  for words in "$@"; do grep -qF -- "$words" "$file" || fail "$file lacks: $words"; done
}
lacks() { if grep -qF -- "$2" "$1"; then fail "$1 has: $2"; fi; }
explored=(glance sizes why ideas roofline errors tables machine)

# Without gnuplot the page has the tables, and a note that pictures are missing. (An empty PATH: no other
# program runs.)
PATH=$PWD/nowhere tesela 0 explore --sizes 16,32 "${few[@]}" --html tables.html
prints 'GFLOP/s' sequential_optimized
page tables.html 0 "${explored[@]}"
has tables.html 'gnuplot-nox' 'sequential_optimized' 'Speed-up over sequential' 'measured peak' \
  'noise goal' 'tesela explore'
has tables.html "--html tables.html" 'memory, copied' 'Left out, since no device here can run them: element'

# With it: a curve, a roofline and an error plot for each device and type.
if command -v gnuplot >/dev/null; then
  tesela 0 explore --sizes 16,32 --types f32,f64 --seconds 0.01 --devices cpu --html full.html --json
  json 'len(j["entries"]) > 0'
  json 'all(d["measured"]["fma_f32"]["rate"] > 0 and d["measured"]["seconds"] > 0 for d in j["devices"])'
  page full.html 6 "${explored[@]}"
  has full.html 'var(--line-1)' 'measured roof' 'operations per byte asked for' 'cpu, f64'
  # Why one beats another: the counts of each strategy, and a comparison with its partner.
  has full.html 'Why one beats another' '>Limit<' 'the triple loop in C' \
    'numbers for each multiply-add; sequential loads 2'
  # The ideas with their pictures, where the sentences lead.
  has full.html '<a href="#idea-blocked">' 'id="idea-blocked"' \
    '<code>sequential_optimized</code>: an element' \
    '  A ---&gt; (i,j) C' 'removes the limit: traffic to memory and caches on the host'
  lacks full.html 'idea-tile_local'
  lacks full.html 'It the '
  lacks full.html 'gnuplot-nox'
  lacks full.html 'Produced by'
  # One size makes no curve.
  tesela 0 explore --sizes 16 "${few[@]}" --html one.html
  page one.html 2 "${explored[@]}"
  has one.html 'A curve needs several sizes'
  # Many strategies: nine lines a picture.
  configs=$(for rows in 48 192; do for columns in 128 512; do for depth in 128 256; do
    printf 'blocked rows=%s columns=%s depth=%s,' $rows $columns $depth; done; done; done)
  tesela 0 explore --sizes 16,24 "${few[@]}" --strategies "${configs}sequential,sequential_optimized" \
    --html many.html
  page many.html 8 glance parameters sizes why ideas roofline errors tables machine
  has many.html 'cpu, f32: the fastest' 'cpu, f32: the others' 'columns=512'
  tesela 0 sweep blocked rows=48,192 --sizes 32 "${few[@]}" --html sweep.html
  page sweep.html 3 glance parameters why ideas roofline errors tables machine
  has sweep.html 'blocked rows=192' '2 configs of <code>blocked</code>' 'Why one beats another'
  lacks sweep.html 'peed-up'
else
  echo "not tried: pictures need gnuplot (Debian: gnuplot-nox)"
fi
tesela 0 explore --op transpose --sizes 20x30,64 "${few[@]}" --html transpose.html
page transpose.html "$(command -v gnuplot >/dev/null && echo 1 || echo 0)" glance sizes why ideas tables \
  machine
has transpose.html 'GB/s' 'Transposes'

# An error of gnuplot is the command's error message, and the page is written all the same.
gnuplot_does() {
  mkdir -p bin
  printf '#!/bin/sh\n%s\n' "$1" >bin/gnuplot
  chmod +x bin/gnuplot
  rm -f bad.html
  PATH=$PWD/bin:$PATH tesela 3 explore --sizes 16,32 "${few[@]}" --html bad.html
  says "$2"
  page bad.html 0 "${explored[@]}"
  has bad.html 'The pictures are left out: gnuplot' 'sequential_optimized'
  absent
}
gnuplot_does 'cat >/dev/null; echo "line 3: undefined <b>variable</b>" >&2; exit 1' \
  'exit code 1: line 3: undefined <b>variable</b>'
has bad.html '&lt;b&gt;variable&lt;/b&gt;'
gnuplot_does 'exit 0' 'no SVG'
gnuplot_does 'kill -KILL $$' 'signal 9'
start=$SECONDS
gnuplot_does 'sleep 100' 'longer than 10 s'
[ $((SECONDS - start)) -lt 40 ] || fail "a gnuplot that hangs holds the call up for $((SECONDS - start)) s"

# Entries that are wrong, failed or refused, with their reasons. The page is written, and the exit code is the
# entries'.
device=$(kernel_devices | head -1)
if [ -n "$device" ]; then
  mkdir tree
  cp -r "$TESELA_SOURCE/src" tree/src
  sed -i 's/sum, g.alpha/sum + 1, g.alpha/' tree/src/strategy/gemm/ladder/element/element.cl
  TESELA_KERNEL_DIR=$PWD/tree PATH=$PWD/nowhere:/usr/bin:/bin run 1 "$TESELA" explore --devices "$device" \
    --types f32 \
    --strategies element,sequential --sizes 32 --seconds 0.01 --html wrong.html
  "$python" "$TESELA_SOURCE/tests/cli/page.py" wrong.html "$(grep -c '<svg' wrong.html || true)" glance \
    tables machine 2>"$err" || fail "the page wrong.html"
  has wrong.html '>WRONG<' 'Nothing was measured' 'Why entries have no number' 'lacks'
  TESELA_FAKE=launch:1+ TESELA_FAKE_INNER=$device run 3 "$TESELA_WITH_FAKE" explore --devices fake:0,cpu \
    --types f32 \
    --strategies element,sequential --sizes 16,32 --seconds 0.01 --html failed.html
  page failed.html "$(grep -c '<svg' failed.html || true)" "${explored[@]}"
  has failed.html '>failed<' 'on demand' 'Roofs that are missing'
else
  echo "not tried: wrong and failed entries need a device that compiles kernels"
fi

# The command line is escaped like any other text. An older file is replaced as a whole or remains. An
# unwritable page is reported before the work.
odd='a&b<i>'"'"'"c.html'
echo old >"$odd"
chmod 600 "$odd"
PATH=$PWD/nowhere tesela 0 explore --sizes 16 "${few[@]}" --html "$odd"
page "$odd" 0 "${explored[@]}"
has "$odd" 'a&amp;b&lt;i&gt;'
[ "$(stat -c %a "$odd")" = 600 ] || fail "permissions changed"
echo old >old.html
tesela 2 explore --sizes 16 "${few[@]}" --strategies nonsense --html old.html
tesela 2 explore --sizes nonsense "${few[@]}" --html old.html
tesela 2 explore --sizes 16 "${few[@]}" --json --csv --html old.html
[ "$(cat old.html)" = old ] || fail "an older file was touched by a failed call"
mkdir folder
start=$SECONDS
tesela 3 explore --sizes 2000 --devices cpu --seconds 5 --html missing/page.html
says missing/page.html 'folder does not exist'
tesela 3 explore --sizes 2000 --devices cpu --seconds 5 --html folder
says 'is a folder'
tesela 3 sweep blocked rows=48,192 --sizes 2000 --seconds 5 --devices cpu --html missing/page.html
[ $((SECONDS - start)) -lt 10 ] || fail "the folder was looked at after the work"
absent

# An interrupted run leaves nothing.
"$TESELA" explore --sizes 3000 --devices cpu --seconds 60 --html gone.html >"$out" 2>"$err" &
child=$!
for _ in $(seq 200); do
  [ -n "$(find . -name '.*.tmp')" ] && break
  sleep 0.05
done
[ -n "$(find . -name '.*.tmp')" ] || fail "no temporary file was seen"
kill -TERM $child
code=0
wait $child || code=$?
[ $code = 143 ] || fail "exit code $code instead of 143 after SIGTERM"
absent gone.html
