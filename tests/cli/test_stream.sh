#!/usr/bin/env bash
# Panels of rows within a little memory give the same bits as the whole product.
. "$(dirname "$0")/helper.sh"

matrix a.npy 500x90 --type f64
matrix at.npy 90x500 --type f64
matrix b.npy 90x70 --seed 2 --type f64
matrix c0.npy 500x70 --seed 3 --type f64
matrix c0.csv 500x70 --seed 3 --type f64
matrix c0.mtx 500x70 --seed 3 --type f64

# both DEVICE MEMORY [arguments]: whole and in panels.
both() {
  local device=$1 memory=$2
  shift 2
  tesela 0 multiply "$@" -o whole.npy --device "$device" --verify --json
  json 'j["panels"] == 1 and j["verified"]["elements_checked"] == 35000'
  tesela 0 multiply "$@" -o parts.npy --device "$device" --memory "$memory" --verify --expect whole.npy --json
  json 'j["panels"] > 3 and j["verified"]["elements_checked"] == 35000 and j["expected"]["agrees"]'
  json "j[\"memory_bytes\"] <= $((${memory%KiB} * 1024))"
  same whole.npy parts.npy
}

# B takes 50 KiB, a row of A and one of C 1.3 KiB, the copies of C0 and of the expected product as much again.
for device in cpu $(kernel_devices); do
  both "$device" 200KiB a.npy b.npy
  both "$device" 240KiB a.npy b.npy --add c0.npy --alpha 1.5 --beta -0.5
done
both cpu 200KiB a.npy b.npy --add c0.csv --alpha 1.5 --beta -0.5
# Where A is transposed, its columns are read (a.csv completely, each time), or A is held in memory where it
# fits.
tesela 0 transpose a.npy -o at.csv --device cpu
for device in cpu $(kernel_devices); do
  both "$device" 200KiB at.npy b.npy --transpose-a
  both "$device" 230KiB at.csv b.npy --transpose-a --add c0.npy --type f64
done
# Compiled kernels count in the choice, and planning the panels must not change the choice.
for device in $(kernel_devices | head -n 1); do
  (export TESELA_CACHE_DIR=$scratch/cache
   tesela 0 multiply a.npy b.npy -o tiles.npy --device "$device" --strategy thin_tile
   TESELA_LOG=plan run 0 "$TESELA" multiply a.npy b.npy -o whole.npy --device "$device"
   if grep 'is skipped' "$err"; then fail "the best plan could not be made"; fi
   both "$device" 200KiB a.npy b.npy)
done
both cpu 480KiB at.npy b.npy --transpose-a --add c0.npy
# Where C0 is no file of rows, that matrix is held (275 KiB).
both cpu 400KiB a.npy b.npy --add c0.mtx
# The choice among all devices and strategies does not depend on the memory, either.
tesela 0 multiply a.npy b.npy -o whole.npy
tesela 0 multiply a.npy b.npy -o parts.npy --memory 120KiB
same whole.npy parts.npy
# Repeats leave C0 as it was.
tesela 0 multiply a.npy b.npy --add c0.npy -o once.npy --device cpu
tesela 0 multiply a.npy b.npy --add c0.npy -o often.npy --device cpu --repeat 3 --memory 200KiB
same once.npy often.npy
prints 'median of 3'
# Text, written row by row.
tesela 0 multiply a.npy b.npy -o whole.csv --device cpu
tesela 0 multiply a.npy b.npy -o parts.csv --device cpu --memory 120KiB
same whole.csv parts.csv

# Too little: the sentence has the numbers.
tesela 3 multiply a.npy b.npy -o c.csv --device cpu --memory 40KiB
says '49.2 KiB' '40 KiB' --memory
says 'held whole: B (b.npy)'
tesela 0 transpose at.npy -o at.mtx --device cpu
tesela 0 transpose at.mtx -o at.mtx.mtx --device cpu
tesela 3 multiply at.mtx.mtx b.npy --transpose-a -o c.csv --device cpu --memory 200KiB
says 'held whole: A (at.mtx.mtx), B (b.npy)'
# Matrix Market is written by columns, so an output that is computed by rows is held in memory.
tesela 3 multiply a.npy b.npy -o c.mtx --device cpu --memory 200KiB
says 'the output, which is written by columns'
absent c.npy c.mtx

# Shapes without elements or without inner size.
matrix none.npy 0x90 --type f64
tesela 0 multiply none.npy b.npy -o c.npy --verify
tesela 0 multiply none.npy none.npy --transpose-a -o c.npy --verify
matrix thin.npy 500x0 --type f64
matrix flat.npy 0x70 --type f64
tesela 0 multiply thin.npy flat.npy --add c0.npy --beta 2 -o c.npy --verify --device cpu
tesela 0 multiply thin.npy flat.npy --add c0.npy --beta 2 --expect c.npy --memory 100KiB --device cpu
