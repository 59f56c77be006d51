#!/usr/bin/env bash
# Products from files against NumPy's, within the judge's bound: all transposes, f32 and f64, every device of
# this machine.
. "$(dirname "$0")/helper.sh"
python=$(python_with numpy)
[ -n "$python" ] || skip "needs NumPy (Debian: python3-numpy)"

cat >compare.py <<'P'
"""compare.py FILE: each line of FILE is a product, C JSON DEVICE A B C0 alpha beta transpose_a transpose_b: C against NumPy, element by
element, in long double, which multiplies without a BLAS; large products in double where that is wider than they are, else one row of seven."""
import json
import sys
import numpy as np


def compare(c, told, device, a, b, c0, alpha, beta, transpose_a, transpose_b):
    report = json.load(open(told))
    assert report["verified"]["right"] and report["device"]["name"] == device, report
    c, a, b, c0 = (np.load(name) for name in (c, a, b, c0))
    alpha, beta = float(alpha), float(beta)
    a = a.T if transpose_a == "1" else a
    b = b.T if transpose_b == "1" else b
    assert c.dtype == a.dtype, (c.dtype, a.dtype)
    assert c.shape == (a.shape[0], b.shape[1]), (c.shape, a.shape, b.shape)
    kind = np.longdouble
    if c.size > 1 << 16 and a.dtype == np.float32:
        kind = np.float64
    elif c.size > 1 << 16:
        a, c, c0 = a[::7], c[::7], c0[::7]
    a, b, c0 = (x.astype(kind) for x in (a, b, c0))
    right = alpha * (a @ b) + beta * c0
    size = abs(alpha) * (abs(a) @ abs(b)) + abs(beta) * abs(c0)
    share = np.max(abs(c - right) / (report["error_bound"] * size + 1e-300))
    assert share <= 1, "error is %g of its bound" % share
    assert np.max(abs(c)) > 1, "the product is next to nothing"


for line in open(sys.argv[1]):
    try:
        compare(*line.split())
    except AssertionError as wrong:
        sys.exit("%s: %s" % (line.strip(), wrong))
P

# one DEVICE TYPE M K N TRANSPOSE_A TRANSPOSE_B [options]: made here, compared with all the others at the end.
products=0
one() {
  local device=$1 type=$2 m=$3 k=$4 n=$5 ta=$6 tb=$7 a b c0 c=$products.npy options=()
  shift 7
  a=$type.$m.$k.a$ta.npy b=$type.$k.$n.b$tb.npy c0=$type.$m.$n.c0.npy
  [ -e "$a" ] || matrix "$a" "$([ "$ta" = 1 ] && echo "${k}x$m" || echo "${m}x$k")" --type "$type" --seed 1
  [ -e "$b" ] || matrix "$b" "$([ "$tb" = 1 ] && echo "${n}x$k" || echo "${k}x$n")" --type "$type" --seed 2
  [ -e "$c0" ] || matrix "$c0" "${m}x$n" --type "$type" --seed 3
  if [ "$ta" = 1 ]; then options+=(--transpose-a); fi
  if [ "$tb" = 1 ]; then options+=(--transpose-b); fi
  tesela 0 multiply "$a" "$b" -o "$c" --add "$c0" --alpha 1.5 --beta -0.5 --device "$device" \
    --verify --json "${options[@]}" "$@"
  cp "$out" "$products.json"
  echo "$c $products.json $device $a $b $c0 1.5 -0.5 $ta $tb" >>products.txt
  products=$((products + 1))
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

run 0 "$python" compare.py products.txt
[ "$(wc -l <products.txt)" = "$products" ] || fail "not all of $products products are compared"

# Wrong products do not pass the comparison (the test can fail): another product, and one wrong element of a
# small and of a large one.
wrong() {
  last="compare.py with a wrong product: $1"
  echo "$1" >wrong.txt
  if "$python" compare.py wrong.txt 2>"$err"; then fail "a wrong product passed"; fi
}
wrong "f32.100.30.c0.npy $(sed -n '1s/^[^ ]* //p' products.txt)"
large=$(grep 'f64.1000' products.txt | head -n 1)
for line in "$(head -n 1 products.txt)" "$large"; do
  "$python" -c 'import numpy as np, sys
c = np.load(sys.argv[1])
c[-1 - (c.shape[0] - 1) % 7, -1] += 0.01
np.save("wrong.npy", c)' "${line%% *}"
  wrong "wrong.npy ${line#* }"
done

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
