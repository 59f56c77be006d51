#!/usr/bin/env bash
# Outputs: an input is never overwritten, an unwritable output is reported first, and no half-written file
# remains.
. "$(dirname "$0")/helper.sh"
export TESELA_DEVICE=cpu
matrix a.npy 60x40
matrix b.npy 40x50
matrix c0.npy 60x50
mkdir inputs
cp a.npy b.npy c0.npy inputs

# Inputs are refused as outputs, under any name.
ln -s a.npy link.npy
ln b.npy hard.npy
for output in a.npy ./a.npy link.npy b.npy hard.npy c0.npy "$PWD/c0.npy"; do
  tesela 2 multiply a.npy b.npy --add c0.npy -o "$output"
  says 'input' "$output"
done
tesela 0 multiply a.npy b.npy --add c0.npy -o e.npy
cp e.npy e.copy
tesela 2 multiply a.npy b.npy --add c0.npy --expect e.npy -o e.npy
same e.npy e.copy
for file in a b c0; do same $file.npy inputs/$file.npy; done
absent

# An older file is replaced by a right product, follows a link, and survives a failure.
echo old >old.npy
chmod 600 old.npy
tesela 0 multiply a.npy b.npy --add c0.npy -o old.npy --verify
prints 'wrote old.npy' right
same old.npy e.npy
[ "$(stat -c %a old.npy)" = 600 ] || fail "permissions changed"
echo old >old.npy
tesela 2 multiply a.npy b.npy --add c0.npy --strategy nonsense -o old.npy
tesela 1 multiply a.npy b.npy --add c0.npy --expect c0.npy -o old.npy
says 'differs from c0.npy' 'C(0, 0)'
prints DIFFERS
[ "$(cat old.npy)" = old ] || fail "an older file was touched by a failed run"
absent

# The folder: missing, no folder at all, not writable.
tesela 3 multiply a.npy b.npy -o missing/c.npy
says missing/c.npy 'folder does not exist'
tesela 3 multiply a.npy b.npy -o a.npy/c.npy
says a.npy/c.npy
tesela 3 multiply a.npy b.npy -o /proc/c.npy
says /proc/c.npy
tesela 2 multiply a.npy b.npy -o c.xyz
says c.xyz .npy
mkdir folder.npy
tesela 3 multiply a.npy b.npy -o folder.npy
says folder.npy 'is a folder'
if [ "$(id -u)" != 0 ]; then
  mkdir locked
  chmod 500 locked
  tesela 3 multiply a.npy b.npy -o locked/c.npy
  says locked/c.npy 'Permission denied'
fi
# It is said before the work: these matrices would take minutes.
matrix big.npy 3000x3000
start=$SECONDS
tesela 3 multiply big.npy big.npy --strategy sequential -o missing/c.npy
[ $((SECONDS - start)) -lt 10 ] || fail "the folder was looked at after the work"

# A file larger than a limit, and a full disk.
limited() { (ulimit -f 8 && exec "$TESELA" "$@"); }
echo old >limit.npy
run 3 limited multiply a.npy b.npy -o limit.npy
one_sentence
says limit.npy
run 3 limited generate 300x300 -o limited.npy
one_sentence
says limited.npy
[ "$(cat limit.npy)" = old ] || fail "a limit on file sizes cost the older file"
absent limited.npy
mkdir disk
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=64k none disk 2>/dev/null; then
  trap 'umount disk; rm -rf "$scratch"' EXIT
  cp e.npy disk/c.npy
  run 3 "$TESELA" generate 200x200 -o disk/full.npy
  one_sentence
  says disk/full.npy 'No space left'
  matrix wide.npy 40x500
  tesela 3 multiply a.npy wide.npy -o disk/c.npy
  says disk/c.npy 'No space left'
  same disk/c.npy e.npy
  [ "$(ls -A disk)" = c.npy ] || fail "something was left on the full disk: $(ls -A disk)"
else
  echo "not tried: a full disk needs root and a mount"
fi

# An interrupted run removes its unfinished output.
"$TESELA" multiply big.npy big.npy --strategy sequential -o c.npy >"$out" 2>"$err" &
child=$!
last="interrupted multiply"
for _ in $(seq 200); do
  [ -n "$(find . -name '.*.tmp')" ] && break
  sleep 0.05
done
[ -n "$(find . -name '.*.tmp')" ] || fail "no temporary file was seen"
kill -TERM $child
code=0
wait $child || code=$?
[ $code = 143 ] || fail "exit code $code instead of 143 after SIGTERM"
absent c.npy
