#!/usr/bin/env bash
# Planted files in place of an output by blocks. The tool never writes through links and files of other users,
# notices altered blocks, and locks the file meanwhile.
. "$(dirname "$0")/helper.sh"
export TESELA_DEVICE=cpu
python=$(python_with signal)
[ -n "$python" ] || skip "needs Python 3"

matrix a.npy 700x900 --type f64
matrix b.npy 900x600 --type f64 --seed 2
work=(multiply a.npy b.npy --strategy host_packed --threads 1)
blocks=("${work[@]}" -o c.npy --memory 900KiB --resume)
tesela 0 "${work[@]}" -o whole.npy
echo precious >victim
chmod 600 victim
cp -p victim kept
is_safe() {
  same victim kept
  [ "$(stat -c %a victim)" = 600 ] || fail "the permissions of the victim changed"
}

# A link in place of the part file is removed, not followed. In place of the journal it is refused. So are
# hard links.
for link in -s -f; do
  ln $link "$PWD/victim" c.npy.tesela-part
  tesela 0 "${blocks[@]}"
  is_safe
  same c.npy whole.npy
  [ ! -L c.npy ] || fail "the result is a link"
  rm c.npy
  ln $link "$PWD/victim" c.npy.tesela-journal
  tesela 3 "${blocks[@]}"
  says c.npy.tesela-journal 'is not used' link 'remove it'
  is_safe
  absent c.npy
  rm c.npy.tesela-journal
done
# A journal that leads to a file which is not there makes none.
ln -s "$PWD/elsewhere" c.npy.tesela-journal
tesela 3 "${blocks[@]}"
absent elsewhere c.npy
rm c.npy.tesela-journal
# A journal that other users may write is refused, and so is a text that is no journal.
: >c.npy.tesela-journal
chmod 666 c.npy.tesela-journal
tesela 3 "${blocks[@]}"
says 'other users may write'
chmod 600 c.npy.tesela-journal
printf 'tesela-blocks 1\nblocks 3\ndone 0\n' >c.npy.tesela-journal
tesela 2 "${blocks[@]}"
says 'is no journal that this version of tesela reads'
rm c.npy.tesela-journal
# A file of measurements.
ln -s "$PWD/victim" measured
run 3 "$TESELA" tune 8 8 8 --device cpu --dry-run --points 1 --cache measured
is_safe
rm measured

# A part file that another process writes, and whose journal was removed, is not begun anew.
: >c.npy.tesela-part
run 2 "$python" -c 'import fcntl, subprocess, sys
with open(sys.argv[1]) as part:
    fcntl.flock(part, fcntl.LOCK_EX)
    sys.exit(subprocess.run(sys.argv[2:]).returncode)' c.npy.tesela-part "$TESELA" "${blocks[@]}"
says 'another process is writing it, by c.npy.tesela-part'
rm c.npy.tesela-part

# Files of another user: only root can act as both users.
if [ "$(id -u)" = 0 ] && "$python" -c 'import os; os.setuid(65534)' 2>/dev/null; then
  mkdir open
  chmod 777 open
  chmod 711 "$scratch" "$scratch/work"
  as_other() { "$python" -c 'import os, sys
os.setuid(65534)
exec(sys.argv[1])' "$1"; }
  as_other "os.symlink('$PWD/victim', 'open/c.npy')"
  tesela 3 generate 4x4 -o open/c.npy
  says 'symbolic link of another user'
  tesela 3 "${work[@]}" -o open/c.npy --memory 900KiB
  says 'symbolic link of another user'
  is_safe
  rm open/c.npy
  as_other "open('open/c.npy.tesela-journal', 'w')"
  tesela 3 "${work[@]}" -o open/c.npy --memory 900KiB
  says 'it belongs to another user'
  is_safe
fi

# --- a run that is not done yet ---

start() {
  last="$TESELA $*"
  "$python" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$TESELA" "$@" >"$out" 2>"$err" &
  child=$!
  for _ in $(seq 1000); do
    ! grep -q '^done ' c.npy.tesela-journal 2>/dev/null || return 0
    kill -0 "$child" 2>/dev/null || fail "it was done too early"
    sleep 0.02
  done
  fail "no block was noted"
}
# finish CODE: it ended.
finish() {
  local code=0
  { wait "$child"; } 2>/dev/null || code=$?
  [ "$code" = "$1" ] || fail "exit code $code instead of $1"
}
slow=("${blocks[@]}" --repeat 300)

# While it runs both files are its user's alone, and no other process writes the output, in blocks or not.
start "${slow[@]}"
[ "$(stat -c %a c.npy.tesela-part c.npy.tesela-journal | sort -u)" = 600 ] || fail "others may read the files"
"$TESELA" "${blocks[@]}" >/dev/null 2>second && fail "a second run by blocks was not refused"
grep -q 'another process is writing it' second || fail "$(cat second)"
"$TESELA" generate 4x4 -o c.npy >/dev/null 2>second && fail "another writer was not refused"
grep -q 'another process is writing it' second || fail "$(cat second)"

# Blocks that are altered are not gone on with.
kill -INT "$child"
finish 130
says 'the finished blocks are kept'
done=$(grep -c '^done ' c.npy.tesela-journal)
"$python" -c 'import os, sys
with open(sys.argv[1], "r+b") as file:
    file.seek(128)
    rest = len(file.read())
    file.seek(128)
    file.write(b"\1" * rest)' c.npy.tesela-part
run 0 "$TESELA" "${blocks[@]}" --json
says "$done of $done blocks that an earlier run left were altered since"
json 'j["blocks"]["resumed"] == 0'
same c.npy whole.npy
rm c.npy

# Files that are removed meanwhile: no message says that blocks are kept.
start "${slow[@]}"
rm c.npy.tesela-part
finish 3
one_sentence
says 'c.npy.tesela-part was removed or replaced' 'no blocks of it are kept'
absent c.npy
rm -f c.npy.tesela-journal
start "${slow[@]}"
rm c.npy.tesela-part
kill -INT "$child" && finish 130
! grep -q 'are kept' "$err" || fail "it says that blocks are kept"

# A finished file has the permissions of any new file, or the permissions of the file that it replaces.
rm -f c.npy*
(umask 027 && tesela 0 "${blocks[@]}")
[ "$(stat -c %a c.npy)" = 640 ] || fail "permissions $(stat -c %a c.npy)"
chmod 604 c.npy
tesela 0 "${blocks[@]}"
[ "$(stat -c %a c.npy)" = 604 ] || fail "permissions $(stat -c %a c.npy)"
