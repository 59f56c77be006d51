#!/usr/bin/env bash
# tesela multiply with scales, C = f(alpha diag(scale_a) A B diag(scale_b) + beta C0 + bias): compared with
# NumPy. Also refusals.
. "$(dirname "$0")/helper.sh"
export TESELA_DEVICE=cpu
numpy=$(python_with numpy)
[ -n "$numpy" ] || skip "needs NumPy"
python() { run 0 "$numpy" -c "import numpy as np
def get(name): return np.load(name + '.npy').astype(float)
def near(x, y, u=1e-6): assert x.shape == y.shape and abs(x - y).max() <= u * abs(y).max(), abs(x - y).max()
$1"; }

python 'r = np.random.default_rng(1)
def save(name, x): np.save(name + ".npy", x)
save("a", r.integers(-128, 128, (21, 34)).astype("i1"))
save("b", r.integers(-128, 128, (34, 13)).astype("i1"))
save("rows", r.random((21, 1)).astype("f4")); save("cols", r.random(13))
save("one", np.full((1, 1), 0.25, "f4"))
save("c0", r.standard_normal((21, 13)).astype("f4") * 999)
save("bias", r.standard_normal(13).astype("f4") * 999)
save("long", r.integers(-128, 128, (3000, 60)).astype("i1"))
save("wide", r.integers(-128, 128, (60, 40)).astype("i1"))
save("rows3000", r.random(3000).astype("f4")); save("z", r.random(21) + 1j)
save("f", r.standard_normal((21, 34)).astype("f4"))'

# --- scales as numbers and files, for the matrix and for each line; integers remain integers ---
tesela 0 multiply a.npy b.npy -o c.npy --scale-a rows.npy --scale-b cols.npy --verify
prints 'scale of A lines, scale of B lines' 'types=i8,i8,f32' 'scale_a=lines scale_b=lines' \
  '|alpha||scale_a||A||B||scale_b|' right
python 'near(get("c"), get("rows") * (get("a") @ get("b")) * get("cols")); assert np.load("c.npy").dtype == np.float32'
tesela 0 multiply a.npy b.npy -o c.npy --scale-a 0.02 --verify
prints 'scale_a=tensor'
python 'near(get("c"), 0.02 * (get("a") @ get("b")))'
tesela 0 multiply a.npy b.npy -o c.npy --scale-b one.npy --alpha -2 --add c0.npy --beta 0.5 --bias bias.npy \
  --activation relu --verify
prints 'C = relu(-2 A B + 0.5 C0 + bias)' 'scale of B tensor, bias row'
python 'near(get("c"), np.maximum(-0.5 * (get("a") @ get("b")) + 0.5 * get("c0") + get("bias"), 0))'
tesela 0 multiply a.npy b.npy -o c.npy --scale-a rows.npy --scale-b 1e-3 --type i8:f16 --verify
prints 'types=i8,i8,f16'
python 'near(get("c"), 1e-3 * get("rows") * (get("a") @ get("b")), 1e-3); assert np.load("c.npy").dtype == np.float16'
tesela 0 multiply f.npy b.npy -o c.npy --scale-a rows.npy --type e4m3:f32 --verify
prints 'types=e4m3,e4m3,f32'
tesela 0 multiply f.npy b.npy -o c.npy --scale-a rows.npy --verify
prints 'types=f32,f32,f32'
python 'near(get("c"), get("rows") * (get("f") @ get("b")))'
tesela 0 multiply a.npy b.npy --scale-a rows.npy --json
json 'j["scale_a"] == "lines" and j["scale_b"] is None and "scale_a=lines" in j["plan"]'

# --- --expect, and panels of rows, which get their part of the scales ---
tesela 0 multiply a.npy b.npy -o e.npy --scale-a rows.npy --scale-b cols.npy
tesela 0 multiply a.npy b.npy --scale-a rows.npy --scale-b cols.npy --expect e.npy
prints agrees
tesela 1 multiply a.npy b.npy --scale-a rows.npy --expect e.npy
tesela 0 multiply long.npy wide.npy -o whole.npy --scale-a rows3000.npy --verify
tesela 0 multiply long.npy wide.npy -o c.npy --scale-a rows3000.npy --memory 128KiB --verify
prints 'panels of'
same c.npy whole.npy

# --- what cannot be ---
tesela 2 multiply a.npy b.npy --scale-a cols.npy
says 'cols.npy is 13 x 1' 'a vector of 21, one for each row'
tesela 2 multiply a.npy b.npy --scale-b c0.npy
says 'a vector of 13, one for each column'
tesela 2 multiply a.npy b.npy --scale-a none.npy
says none.npy
tesela 2 multiply a.npy b.npy --scale-a z.npy
says 'scales are real numbers'
tesela 2 multiply a.npy b.npy --scale-a rows.npy --type f64
says 'C is f64' 'f32, f16 or bf16'
tesela 2 multiply a.npy b.npy --scale-a rows.npy -o rows.npy
says rows.npy
tesela 2 multiply a.npy b.npy --scale-a 2 --measure-error
says 'not measured' --verify
tesela 2 multiply --symmetric f.npy --scale-a 2
says 'general matrices'
absent no.npy

# --- what would run, and words for shells ---
tesela 0 explain 64 300 700 --type i8 --scale-a tensor --scale-b lines
prints 'scale of A tensor, scale of B lines' 'types=i8,i8,f32' chosen
tesela 0 explain 64 300 700 --type bf16 --scale-b lines --json
json 'j["scale_a"] is None and j["scale_b"] == "lines"
  and j["host_bytes"] > 2 * (64 * 700 + 700 * 300 + 64 * 300) + 64 * 300 * 4 - 1'
tesela 2 explain 64 300 700 --scale-a rows
says '"rows" is not one of tensor, lines'
tesela 2 explain 64 64 64 --symmetric --scale-a tensor
says 'general matrices'
TESELA_DEVICE=auto
tesela 0 explain 64 300 700 --type i8 --scale-b lines
tesela 0 explain 64 300 700 --bias-along row
for shell in bash zsh fish; do
  tesela 0 completion $shell
  prints 'tensor lines'
done
