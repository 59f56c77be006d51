#!/usr/bin/env bash
# --expect and --repeat of products by blocks: the comparison's report equals the report in memory, for every
# layout of A and B. A wrong block is not written, and blocks of an earlier run are compared too.
. "$(dirname "$0")/helper.sh"
export TESELA_DEVICE=cpu
python=$(python_with numpy)
[ -n "$python" ] || skip "needs NumPy"

# Rows and columns of all sizes, whose products cancel: C is rounding errors, and only magnitudes of its own
# row and column explain an element. The expected C is 0. In e_*.npy, the last element differs by more than
# rounding.
"$python" - <<'P'
import numpy as np
g = np.random.default_rng(5)
def save(name, array, order="C"):
    np.save(name, np.asarray(array, order=order))
m, n, k = 83, 71, 601
x, y = g.standard_normal((m, k // 2)), g.standard_normal((k // 2, n))
x *= 10.0 ** g.integers(-8, 9, (m, 1)); y *= 10.0 ** g.integers(-8, 9, (1, n))
x[3, :40] = 0 # a row that the first terms do not explain
a = np.concatenate([x, np.zeros((m, 1)), x[:, ::-1]], 1); b = np.concatenate([y, np.ones((1, n)), -y[::-1]])
save("a.npy", a); save("b.npy", b); save("af.npy", a, "F"); save("bf.npy", b, "F")
save("at.npy", a.T); save("bt.npy", b.T); save("atf.npy", a.T, "F"); save("btf.npy", b.T, "F")
save("a_big.npy", a.astype(">f8"))
zero = np.zeros((m, n)); save("zero.npy", zero); save("zero_f.npy", zero, "F")
scale = np.abs(a) @ np.abs(b)
off = zero.copy(); off[-1, -1] = 1e-6 * scale[-1, -1]; save("off.npy", off)
off = zero.copy(); off[0, 0] = scale[0, 0]; off[0, 1] = np.nan; save("off_first.npy", off)
c0 = np.where(g.integers(0, 2, (m, n)) > 0, 1.0, -1.0) * scale; save("c0.npy", c0); save("c0_f.npy", c0, "F")
off = 0.5 * c0; off[-1, -1] *= 1 + 1e-6; save("sum_off.npy", off); save("sum.npy", 0.5 * c0)
save("az.npy", a + 2j * a[:, ::-1]); save("bz.npy", b - 1j * b)
save("zero_z.npy", zero + 0j); off = zero + 0j; off[-1, -1] = 1e-6j * scale[-1, -1]; save("off_z.npy", off)
p, q = g.standard_normal((150, 900)), g.standard_normal((900, 170))
save("p.npy", p); save("q.npy", q); r = p @ q
np.savetxt("two.csv", r, fmt="%.2f", delimiter=","); save("r.npy", r)
r[-1, -1] += 0.02; np.savetxt("two_off.csv", r, fmt="%.2f", delimiter=",")
i, j = g.integers(-128, 128, (150, 900)).astype("i1"), g.integers(-128, 128, (900, 170)).astype("i1")
save("i.npy", i); save("j.npy", j); ij = i.astype("i4") @ j.astype("i4"); save("ij.npy", ij); ij[-1, -1] += 1
save("ij_off.npy", ij)
P

# judged MEMORY CODE ARGUMENTS...: in memory and by blocks, the comparison comes to the same.
judged() {
  local memory=$1 code=$2
  shift 2
  tesela "$code" "$@" --memory 1GiB --json
  json 'j["panels"] == 1 and "blocks" not in j'
  cp "$out" whole.json
  tesela "$code" "$@" --memory "$memory" --json
  json 'j["blocks"]["count"] > 1 and j["blocks"]["seconds_comparing"] > 0'
  json '(lambda w: [k for k in w if not (w[k] == j["expected"][k] or (isinstance(w[k], float)
    and abs(w[k] - j["expected"][k]) <= 1e-9 * abs(w[k])))] == [])(json.load(open("whole.json"))["expected"])'
}

for files in "a.npy b.npy" "af.npy bf.npy" "at.npy b.npy --transpose-a" \
  "atf.npy btf.npy --transpose-a --transpose-b" "a_big.npy bt.npy --transpose-b"; do
  # shellcheck disable=SC2086
  judged 200KiB 0 multiply $files --expect zero_f.npy
  # shellcheck disable=SC2086
  judged 200KiB 1 multiply $files --expect off.npy --strategy "host_packed depth=128"
done
prints '"agrees": false' '"row": 82' '"column": 70'
# The sum that C0 makes; factors; and a strategy that takes all of k at once.
judged 200KiB 0 multiply a.npy b.npy --add c0.npy --beta 0.5 --alpha -3 --expect sum.npy
judged 200KiB 1 multiply a.npy bf.npy --add c0_f.npy --beta 0.5 --expect sum_off.npy --strategy blocked
judged 300KiB 0 multiply az.npy bz.npy --conjugate-a --expect zero_z.npy
judged 300KiB 1 multiply az.npy bz.npy --conjugate-b --expect off_z.npy --alpha 1-2i
# Printed numbers, a file that is read from a pipe, a tolerance, integers, transposes.
judged 300KiB 0 multiply p.npy q.npy --expect two.csv
json 'j["expected"]["decided_by"] == "printed digits" and j["expected"]["elements_by_printed_digits"] > 20000'
judged 300KiB 1 multiply p.npy q.npy --expect two_off.csv
judged 300KiB 0 multiply p.npy q.npy --expect two_off.csv --tolerance 0.03
tesela 1 multiply p.npy q.npy --memory 300KiB --expect two.csv --tolerance 0.001
says "at least" "--tolerance is 0.001"
run 0 bash -c '"$TESELA" multiply p.npy q.npy --memory 300KiB --expect - <two.csv'
prints 'agrees with standard input' 'compared in'
judged 200KiB 0 multiply i.npy j.npy --type i8 --expect ij.npy
judged 200KiB 1 multiply i.npy j.npy --type i8 --expect ij_off.npy
judged 100KiB 0 transpose a.npy --expect at.npy
judged 100KiB 1 transpose af.npy --alpha 2 --expect at.npy
# The report has the first element that differs, although a later one is found earlier, as it needs no
# magnitudes. Then both ways of judging at once.
tesela 1 multiply a.npy b.npy --expect off_first.npy --memory 200KiB
says 'at least 2' 'C(0, 0)'
tesela 0 multiply p.npy q.npy --expect r.npy --verify --memory 400KiB --json
json 'j["blocks"]["count"] > 1 and j["verified"]["right"] and j["expected"]["agrees"]'
run 3 bash -c 'ulimit -f 100; exec "$TESELA" multiply p.npy q.npy --memory 300KiB --expect two.csv'
one_sentence
says 'two.csv: there is no room for a temporary file of its 199 KiB' TMPDIR
tesela 2 multiply p.npy q.npy --expect zero.npy --memory 300KiB
says 'zero.npy is 83 x 71'
tesela 2 multiply p.npy q.npy --expect r.npy -o r.npy --memory 300KiB
says 'an input is not overwritten'

# A wrong block is not written, and earlier blocks are kept. A resumed run compares them with the new
# expectation.
for type in f64 bf16; do
  tesela 0 multiply p.npy q.npy --type $type -o whole.npy
  "$python" -c 'import numpy as np
c = np.load("whole.npy")
c[0, 0] += 9; np.save("first_off.npy", c); c[0, 0] -= 9; c[-1, -1] += 9; np.save("last_off.npy", c)'
  work=(multiply p.npy q.npy --type $type -o c.npy --memory 200KiB)
  tesela 1 "${work[@]}" --expect last_off.npy
  says 'C(149, 169)' 'blocks of c.npy are kept' --resume
  absent c.npy
  tesela 1 "${work[@]}" --expect first_off.npy --resume
  says 'C(0, 0)'
  absent c.npy
  tesela 0 "${work[@]}" --expect whole.npy --resume --json
  json 'j["blocks"]["resumed"] == j["blocks"]["count"] - 1 > 0 and j["expected"]["agrees"]
    and j["expected"]["largest_difference"] == 0'
  json '0 < j["flops_per_second"] * j["seconds"]["compute"] <= 2 * 150 * 170 * 900 / j["blocks"]["count"] * 1.01' # the last block's
  same c.npy whole.npy
  rm c.npy
done
# All that is left to do is to compare.
tesela 1 "${work[@]}" --expect first_off.npy
absent c.npy c.npy.tesela-part c.npy.tesela-journal

# --repeat: C has its original content before each repetition, in each part of k.
tesela 0 multiply p.npy q.npy --add r.npy --beta -0.5 -o whole.npy --memory 1GiB \
  --strategy "host_packed depth=128"
tesela 0 multiply p.npy q.npy --add r.npy --beta -0.5 -o c.npy --memory 400KiB --repeat 3 \
  --verify --strategy "host_packed depth=128" --json
json 'j["repeats"] == 3 and j["blocks"]["count"] > 1 and j["blocks"]["depth"] < j["k"]
  and j["verified"]["right"] and j["memory_bytes"] <= 400 << 10'
same c.npy whole.npy
tesela 0 multiply p.npy q.npy -o c.npy --memory 300KiB --repeat 2 --resume
prints 'median of 2'
tesela 0 transpose a.npy -o c.npy --memory 100KiB --repeat 3
same c.npy at.npy
