#!/usr/bin/env bash
# Standard input and output, packed files, headers of csv.
. "$(dirname "$0")/helper.sh"
export TESELA_DEVICE=cpu
piped() { run "$1" bash -o pipefail -c "$2"; }

matrix a.npy 30x20
matrix b.npy 20x10 --seed 2
for format in npy mtx csv txt; do
  tesela 0 multiply a.npy b.npy -o c.$format
  # Standard output gets the file, and standard error the report.
  piped 0 '"$TESELA" multiply a.npy b.npy -o - --format '$format
  same "$out" c.$format
  says 'C = A B' host
  piped 0 '"$TESELA" multiply a.npy b.npy -o - --quiet --format '$format' | cat'
  same "$out" c.$format
  [ ! -s "$err" ] || fail "--quiet says something"
  piped 0 '"$TESELA" generate 30x20 -o - --quiet --format '$format' | cmp - <("$TESELA" generate 30x20 -o x.'$format' --quiet; cat x.'$format')'
  # Standard input, from a pipe and from a file, by its first bytes or by --format.
  piped 0 'cat c.'$format' | "$TESELA" transpose - -o t.npy --type f32 --format '$format
  piped 0 '"$TESELA" transpose - -o u.npy --type f32 <c.'$format
  same t.npy u.npy
  tesela 0 transpose t.npy --expect c.npy
done
# One column of csv has nothing that says so; --format does.
printf '1.5\n2\n' >one.csv
piped 2 'cat one.csv | "$TESELA" transpose - -o t.npy'
says 'standard input' 'first bytes'
piped 0 'cat one.csv | "$TESELA" transpose - -o t.txt --format csv'
[ "$(cat t.txt)" = "1 2
1.5 2" ] || fail "--format csv did not rule"
piped 2 '"$TESELA" multiply - - --transpose-b <a.npy'
says 'standard input, -, is one file, but 2 inputs name it'
# A pipe, in panels.
piped 0 'cat a.npy | "$TESELA" multiply - b.npy --memory 3KiB --expect c.npy --json'
json 'j["panels"] > 1 and j["expected"]["agrees"]'

# Options that exclude each other.
tesela 2 multiply a.npy b.npy -o -
says --format npy mtx
tesela 2 multiply a.npy b.npy -o - --format npy --json
says --json 'standard output'
tesela 2 multiply a.npy b.npy --format csv
says --format
tesela 2 multiply a.npy b.npy -o c.dat --format png
says png 'npy, mtx, csv, txt'
tesela 2 generate 3x3 -o - --format csv --json
says --json
tesela 0 multiply a.npy b.npy -o c.dat --format npy
same c.dat c.npy
# A wrong result does not reach standard output, nor does half of one.
matrix zero.npy 30x10 --seed 9
piped 1 '"$TESELA" multiply a.npy b.npy --expect zero.npy -o - --format csv --memory 3KiB'
[ ! -s "$out" ] || fail "a wrong product reached standard output"
if [ -e /dev/full ]; then
  piped 3 '"$TESELA" multiply a.npy b.npy -o - --format csv >/dev/full'
  says 'standard output' 'No space left'
fi

# Packed files, by any name, and formats that cannot be written.
gzip -kn a.npy
tesela 0 multiply a.npy.gz b.npy --expect c.npy
cp a.npy.gz packed.npy
tesela 0 multiply packed.npy b.npy --expect c.npy --memory 3KiB
gzip -kn c.csv
tesela 0 multiply a.npy b.npy --expect c.csv.gz --memory 4KiB
piped 0 'gzip <a.npy | "$TESELA" multiply - b.npy --expect c.npy'
# Bytes after the last value are an error, also when unpacked into a temporary file for blocks.
{ cat a.npy && printf x; } | gzip >long.npy.gz
tesela 2 multiply long.npy.gz b.npy
says long.npy.gz oversized
tesela 2 multiply long.npy.gz b.npy -o long.npy --resume
says long.npy.gz oversized
tesela 2 multiply a.npy b.npy -o c.npy.gz
says c.npy.gz 'compressed files cannot be written'
python=$(python_with numpy)
if [ -n "$python" ]; then
  run 0 "$python" -c 'import numpy as np
a, b = np.load("a.npy"), np.load("b.npy")
np.savez("one.npz", a); np.savez_compressed("small.npz", a=a); np.savez("two.npz", first=a, second=b)'
  tesela 0 multiply one.npz b.npy --expect c.npy
  tesela 0 multiply small.npz b.npy --expect c.npy --memory 4KiB
  tesela 2 multiply two.npz b.npy
  says two.npz '2 arrays (first.npy, second.npy)' 'unzip -p two.npz first.npy >first.npy'
  if command -v unzip >/dev/null; then
    piped 0 "$(sed 's/.*as with  //' "$err")"
    same first.npy a.npy
  fi
fi

# A header is mentioned, and a typing error is none.
printf 'x,y\n1,2\n3,4\n' >names.csv
printf '1,O\n1,2\n3,4\n' >typo.csv
tesela 0 multiply names.csv names.csv
prints 'names.csv: its first line has column names and is skipped'
tesela 0 multiply names.csv names.csv --json
json 'j["headers"] == ["names.csv", "names.csv"] and j["m"] == 2'
tesela 0 multiply a.npy b.npy --json
json 'j["headers"] == []'
for command in 'multiply typo.csv names.csv' 'transpose typo.csv'; do
  # shellcheck disable=SC2086
  tesela 2 $command
  says typo.csv "line 1 has 'O' in cell 2" 'a header line must have no numbers'
done
