#!/usr/bin/env bash
# The tool under mpirun: RANKS processes multiply files together, and what is wrong is told once, with one exit code.
#   test_tool.sh MPIEXEC RANKS
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../cli/helper.sh"
mpiexec=$1 ranks=$2
together() { # CODE ARGUMENTS...: as tesela CODE, by the ranks; mpirun adds words of its own to a failure
  local expected=$1
  shift
  run "$expected" "$here/run.sh" "$mpiexec" "$ranks" "$TESELA" "$@"
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
# The same matrix column after column, as NumPy writes Fortran order.
python3 - <<'PY'
import struct
data = open("a.npy", "rb").read()
start = 10 + struct.unpack("<H", data[8:10])[0]
size = (len(data) - start) // (130 * 77)
item = lambda i, j: data[start + (i * 77 + j) * size:start + (i * 77 + j + 1) * size]
with open("af.npy", "wb") as out:
    out.write(data[:start].replace(b"'fortran_order': False", b"'fortran_order': True "))
    out.write(b"".join(item(i, j) for j in range(77) for i in range(130)))
PY
"$TESELA" multiply a.npy b.npy -o right.npy --quiet
"$TESELA" multiply a.npy b.npy --type f64 --alpha 2 --add c0.npy --beta -1 -o more.npy --quiet
"$TESELA" multiply thin.npy short.npy -o small.npy --quiet

# Whole numbers: the same bits by any number of ranks.
together 0 multiply thin.npy short.npy -o c.npy --quiet # fewer rows than ranks
cmp c.npy small.npy || fail "a product of one row"
together 0 multiply a.npy b.npy -o c.npy
cmp c.npy right.npy || fail "another product"
[ "$ranks" = 1 ] || prints "ranks" "$ranks, of which" "wrote c.npy" "words"
[ "$ranks" = 3 ] || exit 0 # starting MPI takes a second; one number of ranks runs the rest
together 0 multiply at.npy b.npy --transpose-a -o c.npy --quiet
cmp c.npy right.npy || fail "A^T"
[ ! -s "$out" ] || fail "--quiet prints"
together 0 multiply af.npy b.npy -o c.npy --quiet
cmp c.npy right.npy || fail "Fortran order"
together 0 multiply a.npy b.npy --type f64 --alpha 2 --add c0.npy --beta -1 -o c.npy --quiet
cmp c.npy more.npy || fail "alpha, beta and C0"
rm c.npy
together 0 multiply a.npy b.npy --json
python3 -c 'import json, sys; o = json.load(open(sys.argv[1])); r = o.get("ranks"); assert o["m"] == 130 and o["output"] is None and (not r or r["count"] == int(sys.argv[2]) and o["seconds"]["compute"] >= 0)' \
  "$out" "$ranks" || fail "the object"
together 2 multiply a.npy a.npy -o c.npy
says "the inner sizes 77 and 130 differ"
together 3 multiply a.npy b.npy -o folder/c.npy
says "folder"
# An input that is cut short is the ranks' that read its end.
head -c 20000 a.npy >cut.npy
together 2 multiply cut.npy b.npy -o c.npy
says "cut.npy"
[ ! -e c.npy ] && ! ls c.npy.tesela* 2>/dev/null || fail "something is left"
together 2 multiply a.npy bt.csv --transpose-b -o c.npy
says "bt.csv: each of the processes reads a part of its own"
together 2 multiply a.npy b.npy -o c.csv
says "c.csv: each of the processes writes a part of C"
together 2 multiply a.npy b.npy -o c.npy --verify
says "--verify is of one process"
# Each for itself, and a library that is not there.
last="TESELA_MPI"
TESELA_MPI=none together 0 multiply a.npy b.npy --quiet
TESELA_MPI=$scratch/no.so together 3 multiply a.npy b.npy
says "multiply together by libtesela_mpi, and that is not there"
[ ! -e c.npy ] || fail "something is left"
