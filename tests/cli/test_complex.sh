#!/usr/bin/env bash
# Complex files: products, dots and transposes of both types in npy and Matrix Market (general, symmetric,
# hermitian, skew) against NumPy and SciPy. Also the refusals of csv and txt.
. "$(dirname "$0")/helper.sh"
export TESELA_DEVICE=cpu
python=$(python_with scipy.io)
[ -n "$python" ] || skip "needs NumPy and SciPy (Debian: python3-scipy)"
python() { run 0 "$python" -c "import numpy as np, scipy.io, scipy.sparse
$1"; }

python 'r = np.random.default_rng(1)
z = lambda *s: r.standard_normal(s) + 1j * r.standard_normal(s)
a, b, c0, x, y = z(30, 20), z(20, 10), z(30, 10), z(1, 500), z(500, 1)
for n, v in dict(a=a, b=b, c0=c0, x=x, y=y).items():
    np.save(n + ".npy", v); np.save(n + "8.npy", v.astype("c8")); scipy.io.mmwrite(n + ".mtx", v)
np.save("ab.npy", a @ b); np.save("real.npy", r.standard_normal((20, 10)))
np.save("hh.npy", (1.5 - 2j) * a.conj() @ b.conj() + (0.5j - 1) * c0)
np.save("ah.npy", a.T.conj() @ (-2j * c0))
np.save("dot.npy", x @ y)
np.savetxt("complex.csv", a, delimiter=",")
g = z(9, 9)
lower = np.tril(g)
forms = {"symmetric": lower + np.tril(g, -1).T, "hermitian": np.tril(g, -1) + np.tril(g, -1).conj().T + np.diag(g.diagonal().real),
         "skew-symmetric": np.tril(g, -1) - np.tril(g, -1).T, "general": g}
for form, m in forms.items():
    np.save(form + ".npy", m @ m)
    np.save(form + ".right.npy", m)
    low = np.tril(m, -1 if form == "skew-symmetric" else 0) if form != "general" else m
    entries = [(i, j) for j in range(9) for i in range(9) if form == "general" or i > j or (i == j and form != "skew-symmetric")]
    with open("array." + form + ".mtx", "w") as f:
        f.write("%%%%MatrixMarket matrix array complex %s\n9 9\n" % form + "".join("%r %r\n" % (low[e].real, low[e].imag) for e in entries))
    with open("coordinate." + form + ".mtx", "w") as f:
        f.write("%%%%MatrixMarket matrix coordinate complex %s\n9 9 %d\n" % (form, len(entries)) +
                "".join("%d %d %r %r\n" % (e[0] + 1, e[1] + 1, low[e].real, low[e].imag) for e in entries))
    # SciPy reads these files as they are meant; but no array of a skew matrix, whose diagonal it asks for.
    assert np.array_equal(scipy.io.mmread("coordinate." + form + ".mtx").toarray(), m), form
    if form != "skew-symmetric": assert np.array_equal(scipy.io.mmread("array." + form + ".mtx"), m), form'

# Products, in the type of the files, from one format to another.
tesela 0 multiply a.npy b.npy -o c.npy --verify --expect ab.npy
prints 'c128' right agrees
tesela 0 multiply a8.npy b8.npy -o c8.npy --verify --json
json 'j["type"] == "c64" and j["verified"]["right"] and j["alpha"] == [1, 0]'
tesela 0 multiply a8.npy b.npy --json
json 'j["type"] == "c128"'
tesela 0 multiply a.mtx b.mtx -o c.mtx --verify --expect ab.npy
tesela 0 multiply a.mtx b.npy --expect c.mtx
python 'ab = np.load("ab.npy")
assert np.load("c.npy").dtype == "c16" and abs(np.load("c.npy") - ab).max() < 1e-12
assert np.load("c8.npy").dtype == "c8" and abs(np.load("c8.npy") - ab).max() < 1e-4
assert abs(scipy.io.mmread("c.mtx") - ab).max() < 1e-12'
# Factors, conjugates, transposes, C0; in panels, too.
tesela 0 multiply a.npy b.npy --alpha 1.5-2i --conjugate-a --conjugate-b --add c0.npy --beta -1+0.5i \
  --expect hh.npy --verify
prints 'C = (1.5-2i) conj(A) conj(B) + (-1+0.5i) C0'
tesela 0 multiply a.npy b.npy --alpha 1.5-2i --conjugate-a --conjugate-b --add c0.npy --beta -1+0.5i \
  --expect hh.npy --memory 10KiB --json
json 'j["panels"] > 1 and j["expected"]["agrees"]'
tesela 0 multiply a.npy c0.npy --transpose-a --conjugate-a --alpha -2i --expect ah.npy --verify
prints 'C = (0-2i) A^H B'
# One real file is fine, and so is a real C0; a real type is not.
tesela 0 multiply a.npy real.npy --verify --json
json 'j["type"] == "c128"'
tesela 2 multiply a.npy b.npy --type f64
says b.npy 'no imaginary part: c64 and c128 have'
matrix r.npy 5x5
tesela 2 multiply r.npy r.npy --type f32 --alpha 2i
says 'imaginary parts'
tesela 2 multiply r.npy r.npy --conjugate-a
says '--conjugate-a' '--type c64'
tesela 0 multiply r.npy r.npy --alpha 2i --json
json 'j["type"] == "c64" and j["alpha"] == [0, 2]'
for bad in 1+ i 1-2 2j 1+2ii nan; do tesela 2 multiply a.npy b.npy --alpha=$bad; done
# A wrong expectation is seen in either part.
python 'ab = np.load("ab.npy"); ab[7, 3] += 1e-3j; np.save("wrong.npy", ab)
np.save("parts.npy", np.load("ab.npy").real)'
tesela 1 multiply a.npy b.npy --expect wrong.npy
says 'C(7, 3)' '1 element'
tesela 1 multiply a.npy b.npy --expect parts.npy
says 'differs from parts.npy'

# The forms of Matrix Market.
for form in general symmetric hermitian skew-symmetric; do
  for kind in array coordinate; do
    tesela 0 multiply $kind.$form.mtx $kind.$form.mtx --expect $form.npy --verify
    tesela 0 transpose $kind.$form.mtx -o t.npy
    python "assert np.array_equal(np.load('t.npy').T, np.load('$form.right.npy'))"
  done
done

# A dot of types without a strategy for dots is a product of a row and a column. A strategy's result has two
# parts.
if "$TESELA" dot x.npy y.npy --verify --expect dot.npy --json >"$out" 2>"$err"; then
  json 'len(j["result"]) == 2 and j["type"] == "c128"'
else
  says 'no dot strategy here takes complex numbers of type c128' 'tesela multiply takes them'
fi
tesela 0 multiply x.npy y.mtx --verify --expect dot.npy
# Transposes keep every bit.
for type in 8 ''; do
  tesela 0 transpose a$type.npy -o t.npy --verify
  python "assert np.load('a$type.npy').T.copy().tobytes() == np.load('t.npy').tobytes()"
done

# Generated ones: the parts are a sequence of their own.
for type in c64 c128; do
  for ending in npy mtx; do tesela 0 generate 7x5 -o g.$type.$ending --type $type --seed 3; done
  tesela 0 transpose g.$type.mtx -o t.npy --type $type
  tesela 0 transpose t.npy --expect g.$type.npy
done
python 'g = np.load("g.c64.npy")
assert g.dtype == "c8" and g.shape == (7, 5) and len(set(g.real.ravel()) | set(g.imag.ravel())) == 70'

# Limits of csv and txt.
for ending in csv txt; do
  tesela 2 generate 7x5 -o g.$ending --type c64
  says "$ending holds no complex numbers" 'npy and mtx do'
  tesela 2 multiply a.npy b.npy -o c.$ending
  says "$ending holds no complex numbers"
  absent g.$ending c.$ending
done
tesela 2 multiply complex.csv b.npy
says complex.csv
printf '1+2i,3\n4,5\n' >hand.csv
printf '1 2\n1+2i 3\n' >hand.txt
tesela 2 transpose hand.csv
says 'csv holds real numbers only' 'npy and mtx'
tesela 2 transpose hand.txt
says 'txt holds real numbers only' 'npy and mtx'
