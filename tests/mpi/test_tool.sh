#!/usr/bin/env bash
# test_tool.sh MPIEXEC RANKS FULL: the tool under mpirun. RANKS processes multiply files together, and an
# error is printed once, with one exit code. FULL: full.c's library, which emulates a failing disk.
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../cli/helper.sh"
mpiexec=$1 ranks=$2 full=$3 around=(env)
together() { # CODE ARGUMENTS...: as tesela CODE, by the ranks; mpirun adds words of its own to a failure
  local expected=$1
  shift
  run "$expected" "$here/run.sh" "$mpiexec" "$ranks" "${around[@]}" "$TESELA" "$@"
  [ "$expected" = 0 ] || [ "$(grep -c '^tesela' "$err")" = 1 ] || fail "not told once"
}
cd "$scratch/work"
"$TESELA" generate 130x77 --distribution integer --seed 1 -o a.npy --quiet
"$TESELA" generate 77x91 --distribution integer --seed 2 -o b.npy --quiet
"$TESELA" generate 130x91 --distribution integer --seed 3 --type f64 -o c0.npy --quiet
"$TESELA" generate 1x3 --distribution integer --seed 4 -o thin.npy --quiet
"$TESELA" generate 3x2 --distribution integer --seed 4 -o short.npy --quiet
"$TESELA" transpose a.npy -o at.npy --quiet
"$TESELA" transpose b.npy -o bt.csv --quiet
# The matrix in column-major order, as NumPy writes Fortran order.
python3 - <<'PY'
import struct
data = open("a.npy", "rb").read()
start = 10 + struct.unpack("<H", data[8:10])[0]
size = (len(data) - start) // (130 * 77)
item = lambda i, j: data[start + (i * 77 + j) * size:start + (i * 77 + j + 1) * size]
with open("af.npy", "wb") as out:
    out.write(data[:start].replace(b"'fortran_order': False", b"'fortran_order': True "))
    out.write(b"".join(item(i, j) for j in range(77) for i in range(130)))
# B so, and in the other byte order.
data = open("b.npy", "rb").read()
start = 10 + struct.unpack("<H", data[8:10])[0]
item = lambda i, j: data[start + (i * 91 + j) * size:start + (i * 91 + j + 1) * size][::-1]
with open("bf.npy", "wb") as out:
    out.write(data[:start].replace(b"'<", b"'>").replace(b"'fortran_order': False", b"'fortran_order': True "))
    out.write(b"".join(item(i, j) for j in range(91) for i in range(77)))
PY
"$TESELA" multiply a.npy b.npy -o right.npy --quiet
"$TESELA" multiply a.npy b.npy --type f64 --alpha 2 --add c0.npy --beta -1 -o more.npy --quiet
"$TESELA" multiply thin.npy short.npy -o small.npy --quiet

# Whole numbers: the same bits by any number of ranks.
together 0 multiply thin.npy short.npy -o c.npy --quiet # fewer rows than ranks
cmp c.npy small.npy || fail "a product of one row"
together 0 multiply a.npy b.npy -o c.npy
cmp c.npy right.npy || fail "another product"
[ "$ranks" = 1 ] || prints "ranks" "$ranks, of which" "wrote c.npy" "words" "3 of 3 by MPI-IO"
together 0 multiply af.npy bf.npy -o c.npy --quiet
cmp c.npy right.npy || fail "Fortran order"
[ "$ranks" = 3 ] || exit 0 # starting MPI takes a second; one number of ranks runs the rest
together 0 multiply at.npy b.npy --transpose-a -o c.npy --quiet
cmp c.npy right.npy || fail "A^T"
[ ! -s "$out" ] || fail "--quiet prints"
together 0 multiply a.npy b.npy --type f64 --alpha 2 --add c0.npy --beta -1 -o c.npy --quiet
cmp c.npy more.npy || fail "alpha, beta and C0"
rm c.npy
together 0 multiply a.npy b.npy --json
python3 -c 'import json, sys
o = json.load(open(sys.argv[1])); r = o.get("ranks")
assert o["m"] == 130 and o["output"] is None
assert not r or r["count"] == int(sys.argv[2]) and o["seconds"]["compute"] >= 0' \
  "$out" "$ranks" || fail "the object"
together 2 multiply a.npy a.npy -o c.npy
says "the inner sizes 77 and 130 differ"
together 3 multiply a.npy b.npy -o folder/c.npy
says "folder"
# An input that is cut short is the ranks' that read its end.
head -c 20000 a.npy >cut.npy
together 2 multiply cut.npy b.npy -o c.npy
says "cut.npy"
nothing_left() { [ ! -e c.npy ] && ! ls -d c.npy?* 2>/dev/null || fail "something is left"; }
nothing_left
# A file that is missing on one rank, and a file that is shorter on one rank.
here_has() { # RANK FILE: what the folder of this rank has of it
  mkdir -p "rank$1"
  cp "$2" "rank$1/${3:-$2}"
}
around=(bash -c 'cd "rank${OMPI_COMM_WORLD_RANK-$PMI_RANK}" && exec "$@"' bash)
for rank in 0 1 2; do here_has $rank a.npy && [ $rank = 1 ] || here_has $rank b.npy; done
together 2 multiply a.npy b.npy -o ../c.npy
says "rank 1: b.npy: cannot be opened"
here_has 1 cut.npy b.npy
together 2 multiply a.npy b.npy -o ../c.npy
says "rank 1: b.npy: is truncated"
nothing_left
# A disk that fails while a rank reads, or writes: the others do not wait for it, and C is as it was. Where
# only MPI fails, the rest is done.
fails_on() { around=(env "LD_PRELOAD=$full" "FULL_RANK=$1" "FULL_FILE=$2" "FULL_ERROR=$3" "FULL_MPI=${4-}"); }
fails_on 1 a.npy 5
together 2 multiply a.npy b.npy -o c.npy
says "rank 1: a.npy: cannot be read: Input/output error"
nothing_left
cp small.npy c.npy
for rank in 0 2; do
  fails_on $rank c.npy.tesela-part 28
  together 3 multiply a.npy b.npy -o c.npy
  says "rank $rank: c.npy: cannot be written: No space left on device"
  cmp c.npy small.npy || fail "what was there before"
  ! ls c.npy?* 2>/dev/null || fail "something is left"
done
fails_on all .npy 5 alone
together 0 multiply a.npy b.npy -o c.npy --quiet
cmp c.npy right.npy || fail "what MPI could not"
says "/a.npy" "/b.npy" "/c.npy.tesela-part"
around=(env)
if "$mpiexec" --version | grep -q "Open MPI"; then
  OMPI_MCA_io=^ompio,romio321,romio341 together 0 multiply a.npy b.npy -o c.npy
  cmp c.npy right.npy || fail "without MPI-IO"
  prints "0 of 3 by MPI-IO" "no MPI-IO" "a.npy: MPI: "
fi
rm c.npy
together 3 multiply a.npy b.npy -o /sys/c.npy
says "/sys/c.npy: cannot be written"
if [ "$(id -u)" = 0 ] && mkdir disk && mount -t tmpfs -o size=16k none disk 2>/dev/null; then
  together 3 multiply a.npy b.npy -o disk/c.npy
  code=$(ls -A disk)
  umount disk
  says "disk/c.npy: there is no room for its"
  [ -z "$code" ] || fail "left on a full disk: $code"
fi
# Text is read by each into a file of its own; the reference is text, too, and both judges look.
"$TESELA" multiply a.npy b.npy --quiet -o right.csv
together 0 multiply a.npy bt.csv --transpose-b -o c.npy --type f32 --verify --expect right.csv --repeat 3
cmp c.npy right.npy || fail "from text"
prints "verified" "right: all 11830 elements" "agrees with right.csv" "the median of 3 times" \
  "2 of 4 by MPI-IO"
together 0 multiply at.npy b.npy --transpose-a --type f64 --alpha 2 --add c0.npy --beta -1 --repeat 2 \
  --verify --expect more.npy -o c.npy --bits devices --json
cmp c.npy more.npy || fail "repeated, with C0"
python3 -c 'import json, sys
o = json.load(open(sys.argv[1])); v = o["verified"]
assert v["right"] and o["expected"]["agrees"] and o["repeats"] == 2 and v["elements_checked"] == 11830, o' \
  "$out" || fail "the object of a verified product"
# Elements of the last rank's rows are other ones in the file: all ranks end alike, and nothing is written.
# Numbers that are not whole, in several tiles of few bytes, are judged by the bound.
rm c.npy
python3 - <<'PY'
rows = open("right.csv").read().splitlines()
cells = rows[129].split(",")
cells[7] = cells[90] = "12345"
rows[129] = ",".join(cells)
open("wrong.csv", "w").write("\n".join(rows) + "\n")
PY
together 1 multiply a.npy b.npy -o c.npy --expect wrong.csv
says "the product differs from wrong.csv in 2 elements; the first is C(129, 7)"
prints "DIFFERS from"
[ ! -e c.npy ] && ! ls c.npy.tesela* 2>/dev/null || fail "a product that differs is written"
"$TESELA" generate 67x2001 --seed 5 --type f64 -o d.npy --quiet
"$TESELA" generate 2001x53 --seed 6 --type f64 -o e.npy --quiet
"$TESELA" multiply d.npy e.npy -o f.npy --quiet --strategy sequential --device cpu
together 0 multiply d.npy e.npy --verify --expect f.npy --memory 2MiB
prints "right: all 3551 elements" "agrees with f.npy"
# The ranks' parts of A, B and C count, and panels and sums use the remaining memory.
together 3 multiply d.npy e.npy --memory 300KiB
says "its parts of A, B and C take 629 KiB, and --memory is 300 KiB a process: allow more, or start more processes"
together 0 multiply d.npy e.npy --memory 1MiB --expect f.npy --json
python3 -c 'import json, sys; r = json.load(open(sys.argv[1]))["ranks"]; assert r["held_bytes"] == 8 * (23 * 2001 + 667 * 53 + 23 * 53) and 0 < r["memory_bytes"] <= (1 << 20) - r["held_bytes"], r' \
  "$out" || fail "the bytes that ranks hold"
together 2 multiply a.npy b.npy -o c.csv
says "c.csv: each of the processes writes a part of C"
for option in "--resume -o c.npy" --measure-error "--accuracy 1e-3" "--bias a.npy" "--activation relu" "--scale-a 2" "--scale-b a.npy"; do
  OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 tesela 2 multiply a.npy b.npy $option # before MPI begins
  says "${option%% *} is of one process: "
done
together 2 multiply - b.npy </dev/null
says "standard input, -, is of one process"
# Each for itself, and a library that is not there.
last="TESELA_MPI"
TESELA_MPI=none together 0 multiply a.npy b.npy --quiet
TESELA_MPI=$scratch/no.so together 3 multiply a.npy b.npy
says "multiply together by libtesela_mpi, and that is not there"
[ ! -e c.npy ] || fail "something is left"
