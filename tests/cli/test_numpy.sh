#!/usr/bin/env bash
# Products from files against NumPy's, within the judge's bound: all transposes, f32 and f64, every device here.
. "$(dirname "$0")/helper.sh"
python=$(python_with numpy)
[ -n "$python" ] || skip "needs NumPy (Debian: python3-numpy)"

cat >compare.py <<'P'
"""compare.py C A B C0 alpha beta transpose_a transpose_b bound: C against NumPy in long double, element by element."""
import sys
import numpy as np
c, a, b, c0 = (np.load(name) for name in sys.argv[1:5])
alpha, beta = float(sys.argv[5]), float(sys.argv[6])
a = a.T if sys.argv[7] == "1" else a
b = b.T if sys.argv[8] == "1" else b
bound = float(sys.argv[9])
wide = lambda x: x.astype(np.longdouble)
right = alpha * (wide(a) @ wide(b)) + beta * wide(c0)
size = abs(alpha) * (abs(wide(a)) @ abs(wide(b))) + abs(beta) * abs(wide(c0))
assert c.dtype == a.dtype, (c.dtype, a.dtype)
assert c.shape == right.shape, (c.shape, right.shape)
share = np.max(abs(c - right) / (bound * size + 1e-300))
assert share <= 1, "error is %g of its bound" % share
assert np.max(abs(c)) > 1, "the product is next to nothing"
P

# one DEVICE TYPE M K N TRANSPOSE_A TRANSPOSE_B [options]
one() {
  local device=$1 type=$2 m=$3 k=$4 n=$5 ta=$6 tb=$7 a b options=()
  shift 7
  a=$type.$m.$k.a$ta.npy b=$type.$k.$n.b$tb.npy
  [ -e "$a" ] || matrix "$a" "$([ "$ta" = 1 ] && echo "${k}x$m" || echo "${m}x$k")" --type "$type" --seed 1
  [ -e "$b" ] || matrix "$b" "$([ "$tb" = 1 ] && echo "${n}x$k" || echo "${k}x$n")" --type "$type" --seed 2
  [ -e "$type.$m.$n.c0.npy" ] || matrix "$type.$m.$n.c0.npy" "${m}x$n" --type "$type" --seed 3
  if [ "$ta" = 1 ]; then options+=(--transpose-a); fi
  if [ "$tb" = 1 ]; then options+=(--transpose-b); fi
  tesela 0 multiply "$a" "$b" -o c.npy --add "$type.$m.$n.c0.npy" --alpha 1.5 --beta -0.5 --device "$device" --verify \
    --json "${options[@]}" "$@"
  local bound
  bound=$("$python" -c 'import json, sys
j = json.load(open(sys.argv[1]))
assert j["verified"]["right"] and j["device"]["name"] == sys.argv[2], j
print(j["error_bound"])' "$out" "$device")
  run 0 "$python" compare.py c.npy "$a" "$b" "$type.$m.$n.c0.npy" 1.5 -0.5 "$ta" "$tb" "$bound"
  rm c.npy
}

for device in cpu $(kernel_devices); do
  for type in f32 f64; do
    for ta in 0 1; do
      for tb in 0 1; do
        one "$device" $type 100 70 30 $ta $tb
      done
    done
  done
done
for type in f32 f64; do
  for ta in 0 1; do
    one cpu $type 1000 700 300 $ta $((1 - ta))
    for device in $(kernel_devices); do one "$device" $type 1000 700 300 $ta $ta --strategy element; done
  done
done

# A product that is wrong does not pass the comparison (the test can fail).
last="compare.py with a wrong product"
"$python" -c 'import numpy as np
c = np.load("f32.100.30.c0.npy"); np.save("wrong.npy", c)'
if "$python" compare.py wrong.npy f32.100.70.a0.npy f32.70.30.b0.npy f32.100.30.c0.npy 1.5 -0.5 0 0 1e-5 2>"$err"; then
  fail "a wrong product passed"
fi

# Files that NumPy wrote: orders, types, byte orders; and text.
"$python" -c 'import numpy as np
r = np.random.default_rng(1)
a, b = r.integers(-9, 9, (20, 30)), r.integers(-9, 9, (30, 10))
np.save("c.npy", (a @ b).astype(np.float64))
for i, kind in enumerate(("<f8", ">f8", "<f4", ">f4", "<f2", "i1", "<i4")):
    np.save("a%d.npy" % i, np.asarray(a.astype(kind), order="F" if i % 2 else "C"))
    np.save("b%d.npy" % i, np.asarray(b.astype(kind), order="C" if i % 3 else "F"))
np.savetxt("a7.csv", a, delimiter=",", fmt="%d")
np.savetxt("b7.csv", b, delimiter=";", header="x" + 9 * ";x", comments="")'
for i in 0 1 2 3 4 5 6; do
  tesela 0 multiply a$i.npy b$i.npy --expect c.npy --verify --device cpu
  prints 'agrees with c.npy' right
done
tesela 0 multiply a7.csv b7.csv --expect c.npy --device cpu -o c7.txt
tesela 0 multiply a0.npy b0.npy --expect c7.txt --device cpu
tesela 0 multiply a4.npy b4.npy --device cpu --json
json 'j["type"] == "f32"'
tesela 0 multiply a5.npy b5.npy --device cpu --json
json 'j["type"] == "f64"'
