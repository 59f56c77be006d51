#!/usr/bin/env bash
# tesela multiply with an epilogue, C = f(alpha A B + beta C0 + bias): compared with NumPy. Also refusals.
. "$(dirname "$0")/helper.sh"
export TESELA_DEVICE=cpu
numpy=$(python_with numpy)
[ -n "$numpy" ] || skip "needs NumPy"
python() { run 0 "$numpy" -c "import math, numpy as np
def get(name): return np.load(name + '.npy')
def near(x, y, u=1e-12): assert x.shape == y.shape and abs(x - y).max() <= u * abs(y).max(), abs(x - y).max()
def relu(x): return np.maximum(x, 0)
def gelu(x): return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2
def gelu_tanh(x): return x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))) / 2
$1"; }

python 'r = np.random.default_rng(1)
def save(name, x): np.save(name + ".npy", x)
a, b, z = r.standard_normal((21, 34)) / 4, r.standard_normal((34, 13)), r.standard_normal((21, 34)) + 1j * r.standard_normal((21, 34))
save("a", a); save("b", b); save("c0", r.standard_normal((21, 13))); save("z", z)
save("at", np.ascontiguousarray(a.T))
row, column = r.standard_normal(13), r.standard_normal(21)
save("row", row); save("row2", row.reshape(1, 13)); save("row3", row.reshape(13, 1)); save("column", column)
np.savetxt("row.csv", row.reshape(1, 13), delimiter=",", fmt="%.17g")
save("zrow", row + 2j * row[::-1]); save("ia", (a * 8).astype("i1")); save("ib", b.astype("i1"))
save("a4", a.astype("f4")); save("b4", b.astype("f4")); save("square", r.standard_normal((13, 13)))
save("long", r.standard_normal((3000, 60))); save("wide", r.standard_normal((60, 40)))
save("column3000", r.standard_normal(3000) * 10)'

# --- each function, each way of a bias, each form of its file ---
tesela 0 multiply a.npy b.npy -o c.npy --bias row.npy --activation relu --verify
prints 'C = relu(A B + bias),  21 x 34 by 34 x 13, bias row, f64' 'bias=row' 'activation=relu' \
  '|alpha||A||B| + |bias|' right
python 'near(get("c"), relu(get("a") @ get("b") + get("row")))'
cp c.npy relu.npy
for form in row2.npy row3.npy row.csv; do
  tesela 0 multiply a.npy b.npy -o c.npy --bias $form --bias-along row --activation relu
  same c.npy relu.npy
done
command="multiply a.npy b.npy -o - --format npy --bias - --activation relu"
run 0 bash -c "'$TESELA' $command <row.npy >piped.npy"
same piped.npy relu.npy
tesela 0 multiply a.npy b.npy -o c.npy --bias column.npy --bias-along column --activation gelu --verify
prints 'C = gelu(A B + bias)' 'bias column'
python 'near(get("c"), gelu(get("a") @ get("b") + get("column")[:, None]))'
tesela 0 multiply a.npy b.npy -o c.npy --activation gelu_tanh --verify
prints 'C = gelu_tanh(A B),  21'
python 'near(get("c"), gelu_tanh(get("a") @ get("b")))'
tesela 0 multiply a.npy b.npy -o c.npy --bias row.npy --verify
prints 'C = A B + bias,  21'
python 'near(get("c"), get("a") @ get("b") + get("row"))'
tesela 0 multiply at.npy b.npy -o c.npy --transpose-a --alpha -1.5 --add c0.npy --beta 0.5 --bias row.npy \
  --activation gelu --repeat 3 --verify
prints 'C = gelu(-1.5 A^T B + 0.5 C0 + bias)' '|beta||C0| + |bias|' 'median of 3'
python 'near(get("c"), gelu(-1.5 * get("a") @ get("b") + 0.5 * get("c0") + get("row")))'
tesela 0 multiply z.npy b.npy -o c.npy --bias zrow.npy --verify
python 'near(get("c"), get("z") @ get("b") + get("zrow"))'
tesela 0 multiply a.npy b.npy -o c.npy --bias zrow.npy --verify
prints c128
tesela 0 multiply a4.npy b4.npy -o c.npy --bias row.npy --activation gelu --verify
prints f32
python 'assert get("c").dtype == "f4"; near(get("c"), gelu(get("a") @ get("b") + get("row")), 1e-6)'
tesela 0 multiply a4.npy b4.npy -o c.npy --type f16 --bias row.npy --activation relu --verify
prints 'bias=row,f32,1'
python 'assert get("c").dtype == "f2"; near(get("c").astype("f8"), relu(get("a") @ get("b") + get("row")), 4e-3)'
tesela 0 multiply a.npy b.npy --bias row.npy --activation relu --json
json 'j["bias"] == "row" and j["activation"] == "relu" and j["plan"].find("activation=relu") > 0'
tesela 0 multiply a.npy b.npy --json
json 'j["bias"] is None and j["activation"] is None'

# --- comparisons use the final C ---
tesela 0 multiply a.npy b.npy --bias row.npy --activation gelu -o e.npy
tesela 0 multiply a.npy b.npy --bias row.npy --activation gelu --expect e.npy
prints 'agrees with e.npy'
tesela 0 multiply a4.npy b4.npy --bias row.npy --activation gelu --expect e.npy
prints 'agrees with e.npy'
tesela 1 multiply a.npy b.npy --bias row.npy --activation gelu_tanh --expect e.npy
says 'the product differs from e.npy'
tesela 1 multiply a.npy b.npy --bias row.npy --expect e.npy
tesela 1 multiply a.npy b.npy --activation gelu --expect e.npy -o no.npy
absent no.npy
# The magnitude of a cancelling bias counts in the comparison too.
python 'np.save("ones.npy", np.ones((1, 1))); np.save("minus.npy", [-3.0]); np.save("e1.npy", [[4e-15]])
np.save("three.npy", [[3.0]])'
tesela 0 multiply ones.npy three.npy --bias minus.npy --expect e1.npy
tesela 1 multiply ones.npy three.npy --expect e1.npy

# --- panels of rows: each with its part of a column ---
tesela 0 multiply long.npy wide.npy -o whole.npy --bias column3000.npy --bias-along column --activation relu \
  --verify
prints '1 panel '
python 'near(get("whole"), relu(get("long") @ get("wide") + get("column3000")[:, None]))'
tesela 0 multiply long.npy wide.npy -o c.npy --bias column3000.npy --bias-along column --activation relu \
  --memory 512KiB --verify
prints 'panels of rows'
same c.npy whole.npy
tesela 0 multiply long.npy wide.npy --bias column3000.npy --bias-along column --activation relu \
  --memory 512KiB --expect whole.npy
tesela 3 multiply long.npy wide.npy --bias column3000.npy --bias-along column --memory 16KiB
says 'held whole' 'the bias (column3000.npy)'

# --- invalid epilogues ---
tesela 2 multiply a.npy b.npy --bias column.npy
says 'column.npy has 21 elements' 'each of the 13 columns' '--bias-along column fits'
tesela 2 multiply a.npy b.npy --bias row.npy --bias-along column
says 'row.npy has 13 elements' 'each of the 21 rows' '--bias-along row fits'
tesela 2 multiply a.npy b.npy --bias c0.npy
says 'c0.npy is 21 x 13' 'one row or one column'
tesela 2 multiply a.npy b.npy --bias none.npy
says none.npy
tesela 2 multiply a.npy b.npy --bias row.npy -o row.npy
says input
tesela 2 multiply a.npy b.npy --bias row.npy --bias-along diagonal
says '--bias-along' '"diagonal" is not one of row, column'
tesela 2 multiply a.npy b.npy --activation swish
says '--activation' '"swish" is not one of relu, gelu, gelu_tanh'
tesela 2 multiply a.npy b.npy --bias-along row
says 'add --bias FILE'
tesela 2 multiply z.npy b.npy --activation relu
says 'real products' c128
tesela 2 multiply ia.npy ib.npy --type i8 --activation relu
says integers i32
tesela 0 multiply a.npy b.npy --bias row.npy --activation gelu --measure-error --json
json '0 < j["measured"]["largest_error"] <= j["error_bound"] and j["measured"]["all_elements"]'
tesela 2 multiply --symmetric a.npy --activation relu
says 'general matrices'
tesela 2 multiply square.npy square.npy --a-is symmetric_lower --bias row.npy
says 'general matrices'
tesela 2 multiply a.npy b.npy --activation relu -o c.npy --resume
says 'panels of rows'
absent no.npy

# --- what would run, and words for shells ---
tesela 0 explain 64 300 700 --bias-along row --activation gelu
prints 'C = gelu(A B + bias),  64 x 700 by 700 x 300, f32, bias row' 'activation=gelu' chosen
tesela 0 explain 64 300 700 --activation relu --json
json 'j["activation"] == "relu" and j["bias"] is None and "activation=relu" in j["plan"]'
tesela 2 explain 64 64 64 --symmetric --activation relu
says 'general matrices'
tesela 2 explain 64 7 --solve --bias-along row
says 'general matrices'
tesela 2 explain 64 64 64 --ranks 4 --activation relu
says --ranks
tesela 2 explain 64 64 64 --type c64 --activation relu
says c64
for shell in bash zsh fish; do
  tesela 0 completion $shell
  prints 'relu gelu gelu_tanh' 'row column'
done
