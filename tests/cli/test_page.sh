#!/usr/bin/env bash
# --html: a complete page with right text and data, drawn by a browser. Outputs follow the rules of every
# other command.
. "$(dirname "$0")/helper.sh"
python=$(python_with html.parser)
[ -n "$python" ] || skip "needs Python 3"
export TESELA_CUDA=none
few=(--types f32 --seconds 0.01 --devices cpu)

has() {
  local file=$1 words
  shift
  for words in "$@"; do grep -qF -- "$words" "$file" || fail "$file lacks: $words"; done
}
lacks() { if grep -qF -- "$2" "$1"; then fail "$1 has: $2"; fi; }
explored=(glance sizes why ideas roofline errors tables machine)

# The page needs no other program.
PATH=$PWD/nowhere tesela 0 explore --sizes 16,32 "${few[@]}" --html alone.html
prints 'GFLOP/s' sequential_optimized
page alone.html "${explored[@]}"
has alone.html "--html alone.html" 'memory, copied' 'Left out, since no device here can run them: element'
has alone.html '"traces_why":"blocked: a trace needs the compiler c++, which is not here","traces":{}'
tesela 0 explore --sizes 16,32 --types f32,f64 --seconds 0.01 --devices cpu --html full.html --json
json 'len(j["entries"]) > 0'
json 'all(d["measured"]["fma_f32"]["rate"] > 0 and d["measured"]["seconds"] > 0 for d in j["devices"])'
page full.html "${explored[@]}"
# Why one beats another, and the ideas with their pictures; all of it in the text, too.
has full.html 'the triple loop in C' 'numbers for each multiply-add; sequential loads 2' \
  'Why one beats another' \
  '`sequential_optimized`: an element' '  A ---> (i,j) C' '"lifts":"traffic to memory and caches on the host"'
command -v c++ >/dev/null && has full.html '"traces_why":""' '"config":"blocked"' '"config":"host_packed"'
lacks full.html '"name":"tile_local","rung"'
lacks full.html 'It the '
# One size makes no curve.
tesela 0 explore --sizes 16 "${few[@]}" --html one.html
page one.html "${explored[@]}"
# Many strategies: the legend has more lines than are drawn at first.
configs=$(for rows in 48 192; do for columns in 128 512; do for depth in 128 256; do
  printf 'blocked rows=%s columns=%s depth=%s,' $rows $columns $depth; done; done; done)
tesela 0 explore --sizes 16,24 "${few[@]}" --strategies "${configs}sequential,sequential_optimized" \
  --html many.html
page many.html glance parameters sizes why ideas roofline errors tables machine
tesela 0 sweep blocked rows=48,192 --sizes 32 "${few[@]}" --html sweep.html
page sweep.html glance parameters why ideas roofline errors tables machine
has sweep.html '"label":"blocked rows=192"' '"is_sweep":true'
tesela 0 explore --op transpose --sizes 20x30,64 "${few[@]}" --html transpose.html
page transpose.html glance sizes why ideas tables machine
has transpose.html 'GB/s' 'Transposes'
tesela 0 explore --op dot --sizes 1000,3000 "${few[@]}" --html dot.html
page dot.html "${explored[@]}"

# Entries that are wrong, failed or refused, with their reasons. The page is written, and the exit code is the
# entries'.
device=$(kernel_devices | head -1)
if [ -n "$device" ]; then
  mkdir tree
  cp -r "$TESELA_SOURCE/src" tree/src
  sed -i 's/sum, g.alpha/sum + 1, g.alpha/' tree/src/strategy/gemm/ladder/element/element.cl
  TESELA_KERNEL_DIR=$PWD/tree run 1 "$TESELA" explore --devices "$device" \
    --types f32 \
    --strategies element,sequential --sizes 32 --seconds 0.01 --html wrong.html
  page wrong.html glance tables machine
  has wrong.html '"result":"wrong"' WRONG 'lacks'
  TESELA_FAKE=launch:1+ TESELA_FAKE_INNER=$device run 3 "$TESELA_WITH_FAKE" explore --devices fake:0,cpu \
    --types f32 \
    --strategies element,sequential --sizes 16,32 --seconds 0.01 --html failed.html
  page failed.html "${explored[@]}"
  has failed.html '"result":"failed"' 'on demand'
else
  echo "not tried: wrong and failed entries need a device that compiles kernels"
fi

# The command line is escaped in the text, and cannot end the data. An older file is replaced as a whole or
# remains. An unwritable page is reported before the work.
odd='a&b<!--<script>'"'"'"c.html'
echo old >"$odd"
chmod 600 "$odd"
tesela 0 explore --sizes 16 "${few[@]}" --html "$odd"
page "$odd" "${explored[@]}"
has "$odd" 'a&amp;b&lt;!--&lt;script>' 'a&b\u003c!--\u003cscript>'
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
