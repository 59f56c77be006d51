#!/usr/bin/env bash
# Invalid files and sizes: exit code 2, one sentence that names the file, no output.
. "$(dirname "$0")/helper.sh"
export TESELA_DEVICE=cpu
matrix a.npy 6x4
matrix b.npy 4x5
echo precious >old.npy
cp old.npy old.copy

# Every malformed file of the readers' tests, in the place of A, of B, of C0 and of the expected product.
checked=0
for bad in "$TESELA_SOURCE"/tests/data/bad/*; do
  file=bad.${bad##*.}
  cp "$bad" "$file"
  tesela 2 multiply "$file" b.npy -o c.npy
  says "$file"
  tesela 2 multiply a.npy "$file" -o old.npy
  says "$file"
  tesela 2 multiply a.npy b.npy --add "$file" -o c.npy
  says "$file"
  tesela 2 multiply a.npy b.npy --expect "$file" -o c.npy
  says "$file"
  absent c.npy
  checked=$((checked + 1))
done
[ "$checked" -gt 50 ] || fail "only $checked malformed files were found"
same old.npy old.copy

# Mistakes of users, one by one, with the words that help.
bad() { # bad FILE WORDS...: multiplying FILE by b.npy says WORDS.
  local file=$1
  shift
  tesela 2 multiply "$file" b.npy -o c.npy
  says "$file" "$@"
  absent c.npy
}
head -c 150 a.npy >short.npy
bad short.npy bytes
cat a.npy a.npy >long.npy
bad long.npy
head -c 100 /dev/urandom >noise.npy
bad noise.npy
: >empty.npy
bad empty.npy
printf '1,2,3,4\n5,6,7\n' >ragged.csv
bad ragged.csv 'line 2' 3 4
printf '1,2,3,4\n5,six,7,8\n' >words.csv
bad words.csv 'line 2' six
printf '2 4\n1 2 3 4\n5 6 7\n' >few.txt
bad few.txt
printf '2 4\n1 2 3 4 5 6 7 8 9\n' >more.txt
bad more.txt
printf '9000000000000 9000000000000\n1\n' >huge.txt
bad huge.txt
printf '%%%%MatrixMarket matrix coordinate real general\n2 4 1\n3 1 5.0\n' >beyond.mtx
bad beyond.mtx 'line 3' 3
printf '%%%%MatrixMarket matrix array real general\n2 4\n1\nx\n3\n4\n5\n6\n7\n8\n' >word.mtx
bad word.mtx 'line 4' x
printf '1e999,1,1,1\n' >large.csv
bad large.csv
printf '1e200,1,1,1\n' >wide.csv
tesela 2 multiply wide.csv b.npy --type f32 -o c.npy
says wide.csv f32
bad nothing.npy 'No such file'
mkdir folder.npy
bad folder.npy
tesela 2 multiply . b.npy -o c.npy

# A header's claim is checked against the file before memory is taken.
python=$(python_with numpy)
if [ -n "$python" ]; then
  "$python" -c 'header = b"{\"descr\": \"<f8\", \"fortran_order\": False, \"shape\": (1000000, 1000000), }"
header = header.replace(b"\"", b"\x27").ljust(117) + b"\n"
open("claims.npy", "wb").write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64))
import numpy
numpy.save("words.npy", numpy.array([["a", "b"]]))'
  bad claims.npy bytes
  bad words.npy
else
  echo "not tried: files written by NumPy, which is not here"
fi

# Sizes that do not belong together.
tesela 2 multiply a.npy a.npy -o c.npy
says '6 x 4' 'inner sizes 4 and 6 differ'
tesela 2 multiply a.npy b.npy --transpose-b -o c.npy
says transposed 'inner sizes 4 and 5 differ'
tesela 2 multiply a.npy b.npy --add a.npy -o c.npy
says a.npy '6 x 4' '6 x 5'
tesela 2 multiply a.npy b.npy --expect b.npy -o c.npy
says b.npy '4 x 5' '6 x 5'

# A matrix that is honest and too large: 10^6 x 10^6 with one entry.
printf '%%%%MatrixMarket matrix coordinate real general\n1000000 1000000 1\n1 1 5.0\n' >sparse.mtx
tesela 3 multiply sparse.mtx sparse.mtx -o c.npy --memory 1GiB
says 'there is no room' c.npy TiB
printf '%%%%MatrixMarket matrix coordinate real general\n4000000000 4000000000 1\n1 1 5.0\n' >sparser.mtx
run 2 "$TESELA" multiply sparser.mtx sparser.mtx -o c.npy
one_sentence

# Devices and strategies that are not there, and texts that are none.
tesela 2 multiply a.npy b.npy -o c.npy --device gpu
tesela 3 multiply a.npy b.npy -o c.npy --device opencl:99
says opencl
TESELA_CUDA=none tesela 3 multiply a.npy b.npy -o c.npy --device cuda
says cuda
TESELA_DEVICE=opencl:99 tesela 3 multiply a.npy b.npy -o c.npy
tesela 2 multiply a.npy b.npy -o c.npy --strategy nonsense
says nonsense sequential
tesela 2 multiply a.npy b.npy -o c.npy --strategy 'sequential tile=3'
says tile
tesela 2 multiply a.npy b.npy -o c.npy --strategy '=3'
tesela 2 multiply a.npy b.npy -o c.npy --strategy 'tile_local tile=eight'
says tile=eight 16
tesela 2 multiply a.npy b.npy -o c.npy --strategy 'tile_local tile=8 tile=16'
says tile
tesela 2 multiply a.npy b.npy -o c.npy --device cpu --strategy element
says element cpu
tesela 2 multiply a.npy b.npy -o c.npy --type i8
says i8
absent c.npy

# A sentence is one line and harmless to a terminal, whatever the arguments hold.
tesela 2 multiply a.npy b.npy --strategy $'tile_local\ntile=16'
says 'tile_local?tile=16'
tesela 2 multiply $'\e[31mno.npy' b.npy
says '?[31mno.npy'
tesela 2 generate 1x922337203685477580 -o g.npy
says g.npy 'too many' '2^59'
absent g.npy

# Variables are the caller's words too.
for threads in none 0 -1 1.5 99999; do
  TESELA_THREADS=$threads tesela 2 multiply a.npy b.npy -o old.npy
  says TESELA_THREADS "$threads" 'from 1'
done
TESELA_CACHE_SIZE=plenty tesela 2 cache list
says TESELA_CACHE_SIZE plenty 512MiB
same old.npy old.copy
TESELA_THREADS=2 TESELA_CACHE_SIZE=0 tesela 0 multiply a.npy b.npy --quiet
