#!/usr/bin/env bash
# tesela solve, and tesela multiply of matrices of which one triangle is stored: compared with NumPy. Also
# refusals.
. "$(dirname "$0")/helper.sh"
export TESELA_DEVICE=cpu
numpy=$(python_with numpy)
[ -n "$numpy" ] || skip "needs NumPy"
python() { run 0 "$numpy" -c "import numpy as np
def get(name): return np.load(name + '.npy')
def near(x, y, u=1e-11): assert x.shape == y.shape and abs(x - y).max() <= u * abs(y).max(), abs(x - y).max()
$1"; }

# Elements that must not be read are NaN: above l's diagonal, below u's, and the diagonal of the unit ones.
python 'r = np.random.default_rng(1)
def save(name, x): np.save(name + ".npy", x)
nan = np.full((60, 60), np.nan)
a, z = r.standard_normal((60, 45)), r.standard_normal((60, 45)) + 1j * r.standard_normal((60, 45))
full = r.standard_normal((60, 60)) / 60 + np.eye(60)
zfull = full + 1j * r.standard_normal((60, 60)) / 60
save("a", a); save("a4", a.astype("f4")); save("z", z)
save("b", r.standard_normal((60, 13))); save("wide", r.standard_normal((13, 60))); save("full", full)
save("l", np.tril(full) + np.triu(nan, 1)); save("u", np.triu(full) + np.tril(nan, -1))
save("ul", np.tril(full, -1) + np.triu(nan)); save("zu", np.triu(zfull) + np.tril(nan, -1))
save("zb", r.standard_normal((60, 13)) + 1j * r.standard_normal((60, 13)))
c = r.standard_normal((60, 60)) + 1j * r.standard_normal((60, 60))
save("c0", (c + c.T).real); save("h0", c + c.conj().T); save("s0", (c + c.T).real[:45, :45])
save("clower", np.tril((c + c.T).real) + np.triu(nan, 1))
save("rect", a)
singular = np.tril(full); singular[7, 7] = 0; save("singular", singular)'

# --- solves: each side and form ---
tesela 0 solve l.npy b.npy -o x.npy --verify
prints 'A X = B,  X 60 x 13, A triangular_lower, f64' right 'wrote x.npy' '|alpha B - A X|'
python 'near(np.tril(get("full")) @ get("x"), get("b"))'
tesela 0 solve u.npy b.npy -o x.npy --upper --verify --alpha -2 --repeat 3
prints 'A X = -2 B' 'A triangular_upper' 'median of 3'
python 'near(np.triu(get("full")) @ get("x"), -2 * get("b"))'
tesela 0 solve l.npy b.npy -o x.npy --transpose --verify
prints 'A^T X = B'
python 'near(np.tril(get("full")).T @ get("x"), get("b"))'
tesela 0 solve ul.npy wide.npy -o x.npy --unit --right --verify
prints 'X A = B,  X 13 x 60, A unit_lower'
python 'near(get("x") @ (np.tril(get("full"), -1) + np.eye(60)), get("wide"))'
tesela 0 solve u.npy wide.npy -o x.npy --upper --right --transpose --verify
python 'near(get("x") @ np.triu(get("full")).T, get("wide"))'
tesela 0 solve zu.npy zb.npy -o x.npy --upper --transpose --conjugate --alpha 1-2i --verify
prints 'A^H X = (1-2i) B' c128
python 'near(np.triu(np.nan_to_num(get("zu"))).conj().T @ get("x"), (1 - 2j) * get("zb"))'
tesela 0 solve l.npy b.npy -o x4.mtx --type f32 --verify
tesela 0 solve l.npy b.npy --expect x4.mtx --tolerance 1e-4
prints 'agrees with x4.mtx' 'compared within --tolerance 0.0001'
tesela 1 solve l.npy b.npy --expect x4.mtx --tolerance 1e-12
says 'the solution differs from x4.mtx'
tesela 0 solve l.npy b.npy --json
json 'j["command"] == "solve" and j["rows"] == 60 and j["columns"] == 13 and j["a_is"] == "triangular_lower"
  and not j["right"] and j["flops_per_second"] > 0 and j["plan"].startswith("solve ")'
run 0 bash -c "'$TESELA' solve - b.npy -o - --format npy <l.npy >piped.npy"
tesela 0 solve l.npy b.npy -o x.npy --quiet
same piped.npy x.npy

# --- what no solve is ---
tesela 2 solve singular.npy b.npy -o no.npy
says singular.npy '0 on its diagonal' '(7, 7)'
absent no.npy
tesela 0 solve singular.npy b.npy --unit
tesela 2 solve rect.npy b.npy
says rect.npy '60 x 45' 'half of a square'
tesela 2 solve l.npy wide.npy
says 'l.npy is 60 x 60' 'wide.npy has 13 rows'
tesela 2 solve l.npy b.npy --right
says 'b.npy has 13 columns'
tesela 2 solve l.npy b.npy --expect b.npy
says tolerance condition
tesela 2 solve l.npy b.npy --type bf16
says f32
tesela 2 solve l.npy b.npy --conjugate
says complex
tesela 2 solve l.npy b.npy -o l.npy
says input
tesela 2 solve l.npy
tesela 3 solve l.npy b.npy --memory 4KiB
says 'held whole' l.npy

# --- A A^T and A^H A, whole; C0's lower triangle counts ---
tesela 0 multiply --symmetric a.npy -o s.npy --verify
prints 'C = A A^T' 'by its lower triangle' 'c_is=lower' right
python 's = get("s"); near(s, get("a") @ get("a").T); assert (s == s.T).all()'
tesela 0 multiply a.npy --symmetric --transpose-a -o s.npy --verify --add s0.npy --beta -1 --alpha 0.5 \
  --repeat 2
prints 'C = 0.5 A^T A - C0'
python 's = get("s"); near(s, 0.5 * get("a").T @ get("a") - get("s0")); assert (s == s.T).all()'
tesela 0 multiply --symmetric a.npy -o s.npy --verify --add clower.npy
python 's = get("s"); near(s, get("a") @ get("a").T + get("c0")); assert (s == s.T).all()'
tesela 0 multiply --symmetric a.npy --add clower.npy --expect s.npy
prints 'agrees with s.npy'
tesela 1 multiply --symmetric a.npy --expect c0.npy
says 'the product differs'
tesela 0 multiply --symmetric a4.npy -o s.npy --verify
python 'assert get("s").dtype == "f4"; near(get("s"), get("a") @ get("a").T, 1e-5)'
tesela 0 multiply --hermitian z.npy -o h.npy --verify --add h0.npy
prints 'C = A A^H + C0' c_is=hermitian_lower
python 'h = get("h"); near(h, get("z") @ get("z").conj().T + get("h0")); assert (h == h.conj().T).all() and (h.imag.diagonal() == 0).all()'
tesela 0 multiply --hermitian z.npy --transpose-a -o h.npy --verify --json
json 'j["c_is"] == "hermitian_lower" and j["a_is"] is None and j["m"] == j["n"] == 45 and j["k"] == 60
  and j["verified"]["right"]'
python 'near(get("h"), get("z").conj().T @ get("z"))'
tesela 0 multiply --symmetric z.npy -o h.npy --verify
python 'near(get("h"), get("z") @ get("z").T)'

# --- a factor with a structure ---
for is in symmetric_lower triangular_lower unit_lower; do
  tesela 0 multiply l.npy b.npy --a-is $is -o p.npy --verify
  prints "A $is" "a_is=$is" right
  cp p.npy $is.npy
done
python 'l = np.tril(get("full")); near(get("symmetric_lower"), (l + np.tril(l, -1).T) @ get("b"))
near(get("triangular_lower"), l @ get("b")); near(get("unit_lower"), (np.tril(l, -1) + np.eye(60)) @ get("b"))'
tesela 0 multiply wide.npy u.npy --b-is symmetric_upper --transpose-b -o p.npy --verify
python 'u = np.triu(get("full")); near(get("p"), get("wide") @ (u + np.triu(u, 1).T))'
tesela 0 multiply l.npy b.npy --a-is triangular_lower --transpose-a -o p.npy --verify
tesela 0 multiply l.npy b.npy --a-is triangular_lower --transpose-a --expect p.npy
python 'near(get("p"), np.tril(get("full")).T @ get("b"))'
tesela 0 multiply zu.npy zb.npy --a-is hermitian_upper -o p.npy --verify
python 'u = np.triu(np.nan_to_num(get("zu"))); h = np.triu(u, 1); near(get("p"), (h + h.conj().T + np.diag(u.diagonal().real)) @ get("zb"))'
tesela 2 multiply l.npy b.npy --a-is lower
says --a-is lower symmetric_lower
tesela 2 multiply rect.npy s0.npy --a-is symmetric_lower
says rect.npy square
tesela 2 multiply l.npy u.npy --a-is symmetric_lower --b-is symmetric_upper
says 'one factor'
tesela 2 multiply l.npy b.npy --a-is symmetric_lower --type bf16:f32
says 'one type'
tesela 2 multiply --symmetric a.npy b.npy
says '--symmetric A'
tesela 2 multiply --hermitian a.npy
says complex --symmetric
tesela 2 multiply --symmetric --hermitian z.npy
tesela 2 multiply --symmetric a.npy --transpose-b
tesela 2 multiply a.npy
says 'too few'
tesela 2 multiply --symmetric a.npy -o c.npy --resume
says --resume
tesela 2 multiply --hermitian z.npy --alpha 2i
says real
tesela 0 multiply --symmetric a.npy --measure-error --json
json '0 < j["measured"]["largest_error"] <= j["error_bound"] and j["measured"]["all_elements"]'
tesela 3 multiply --symmetric a.npy --memory 16KiB
says 'held whole' a.npy

# --- what would run ---
tesela 0 explain 2000 2000 300 --symmetric --type f64
prints 'C = A A^T' 'C lower' 'c_is=lower' chosen
tesela 0 explain 500 7 --solve --a-is unit_upper --transpose-a --json
json 'j["a_is"] == "unit_lower" and j["k"] == 500 and j["plan"].startswith("solve ")
  and any(c["strategy"] == "host_blocked" for c in j["candidates"])'
tesela 0 explain 500 7 --solve
prints 'A X = B,  X 500 x 7' 'A triangular_lower' '|alpha B - A X|'
tesela 0 explain 30 40 30 --a-is hermitian_upper --type c64 --json
json 'j["a_is"] == "hermitian_upper" and j["b_is"] is None and j["c_is"] is None and not j["in_place"]'
tesela 0 explain 512 512 64 --symmetric --device opencl:0 --strategy 'structured block=128'
prints 'gemm structured' 'block=128' '62.5% of a general product' '4 of 128 x 128' '256 x 256 from (256, 0)'
tesela 2 explain 30 40 50 --a-is symmetric_lower
says square
tesela 2 explain 30 40 50 --solve
says 'two sizes'
tesela 2 explain 30 40
says 'too few'
tesela 2 explain 30 40 --solve --beta 2
says products
tesela 2 explain 64 64 64 --symmetric --ranks 4
says 'general matrices'
