#!/usr/bin/env bash
# Products of narrow types from files: --type with one type, or one for each operand. Every result is compared
# with NumPy's.
. "$(dirname "$0")/helper.sh"
python=$(python_with numpy)
[ -n "$python" ] || skip "needs NumPy (Debian: python3-numpy)"
export TESELA_DEVICE=cpu
python() { run 0 "$python" -c "import numpy as np
load = lambda name: np.load(name + '.npy')
$1"; }

python 'r = np.random.default_rng(7)
np.save("i.npy", r.integers(-128, 128, (41, 70)).astype("i1"))
np.save("j.npy", r.integers(-128, 128, (70, 23)).astype("i1"))
np.save("u.npy", r.integers(0, 256, (70, 23)).astype("u1"))
np.save("c0.npy", r.integers(-10**9, 10**9, (41, 23)).astype("i4"))
np.save("x.npy", r.standard_normal((41, 70)).astype("f2"))
np.save("y.npy", r.standard_normal((70, 23)).astype("f2"))'

# Exact, whatever the strategy, and in panels of rows.
for strategy in sequential host_amx; do
  tesela 0 multiply i.npy j.npy --type i8 --strategy $strategy -o c.npy --verify --repeat 2
  prints ', i8' right
  python "assert load('c').dtype == 'i4' and (load('c') == load('i').astype(int) @ load('j').astype(int)).all()"
  tesela 0 multiply i.npy u.npy --type i8:u8:i32 --strategy $strategy -o c.npy --verify --memory 16KiB \
    --alpha -3 --add c0.npy --beta 2
  prints i8:u8:i32 right
  python "right = -3 * (load('i').astype(int) @ load('u').astype(int)) + 2 * load('c0').astype(int)
assert (load('c') == right.astype('u8').astype('u4').view('i4')).all()"
done

# f16 is read exactly, with C of f16 or of f32. bf16 rounds its input.
for type in f16 bf16; do
  tesela 0 multiply x.npy y.npy --type $type -o c.npy --verify
  prints ", $type" right
done
tesela 0 multiply x.npy y.npy --type f16:f32 -o c.npy --verify
python "right = load('x').astype('f8') @ load('y').astype('f8')
assert load('c').dtype == 'f4' and abs(load('c') - right).max() < 1e-4"
tesela 0 multiply x.npy y.npy --type bf16:f32 -o c.npy --verify
python "right = load('x').astype('f8') @ load('y').astype('f8')
error = abs(load('c') - right).max()
assert load('c').dtype == 'f4' and 1e-4 < error < 0.5, error"

# Refusals, and their messages.
tesela 2 multiply x.npy y.npy --type bf16:f16
says 'bf16 x bf16 -> f16'
tesela 2 multiply x.npy y.npy --type f16:f99
says --type f99 u8:i8:i32
tesela 2 multiply x.npy y.npy --type i8
says 'does not fit i8'
tesela 2 multiply i.npy j.npy --type i8 --alpha 0.5
says 'alpha is 0.5' 'whole number'
tesela 0 check --strategy host_amx --type u8:i8:i32 --case standard:40
prints 'host_amx' '0 wrong'
tesela 0 explore --types bf16:f32,i8 --sizes 32 --strategies sequential,host_amx --csv
prints bf16:f32 i8
