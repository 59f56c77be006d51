#!/usr/bin/env bash
# tesela dot and tesela transpose: files of every format, compared with NumPy, and the refused ones.
. "$(dirname "$0")/helper.sh"
export TESELA_DEVICE=cpu
python() { run 0 /usr/bin/python3 -c "$1"; }

# --- transposes ---
python 'import numpy as np
a = np.arange(60 * 40).reshape(60, 40)
for t in "f2 f4 f8 i1 i4 c8 c16".split(): np.save(t + ".npy", (a % 100).astype(t))
np.save("nan.npy", np.array([[np.nan, -0.0], [np.inf, 5e-324]]))
np.savetxt("a.csv", a, delimiter=",")'
for type in f2 f4 f8 i1 i4 c8 c16; do
  tesela 0 transpose $type.npy -o t.npy --verify
  prints 'every bit is kept' right 'wrote t.npy'
  python "import numpy as np
a, b = np.load('$type.npy'), np.load('t.npy')
assert a.dtype == b.dtype and (a.T == b).all()"
done
tesela 0 transpose nan.npy -o t.npy --verify
python 'import numpy as np
assert np.load("nan.npy").T.copy().tobytes() == np.load("t.npy").tobytes()'
tesela 0 transpose a.csv -o b.mtx --alpha 0.5 --verify
tesela 0 transpose b.mtx -o c.npy --alpha 2 --expect a.csv
prints 'agrees with a.csv'
tesela 0 transpose f4.npy -o small.npy --memory 16KiB --verify
prints right 'of 16 KiB' ' of C; 0 were there'
rm small.npy
tesela 0 transpose f4.npy -o small.npy --memory 16KiB --json
json 'j["blocks"]["count"] > 1'
tesela 0 transpose f4.npy -o whole.npy
same small.npy whole.npy
matrix square.npy 33x33
tesela 0 transpose square.npy -o b.npy --in-place --verify
tesela 0 transpose b.npy --expect square.npy --device opencl:0 --in-place --repeat 2
tesela 2 transpose f4.npy --in-place
says 'only a square' f4.npy
tesela 2 transpose f4.npy -o f4.npy
says input
tesela 2 transpose i4.npy --alpha 2
says 'scales f32 and f64'
tesela 1 transpose square.npy --expect square.npy
says 'the transpose differs from square.npy'
tesela 2 transpose
tesela 0 transpose f4.npy --json
json 'j["rows"] == 60 and j["columns"] == 40 and j["bytes_per_second"] > 0 and j["flops_per_second"] == 0'

# --- dots ---
python 'import numpy as np
r = np.random.default_rng(1)
x, y = r.standard_normal((1, 5000)), r.standard_normal((5000, 1))
np.save("x.npy", x); np.save("y.npy", y); np.save("s.npy", np.array([[2.5]])); np.save("d.npy", x @ y)
np.save("x4.npy", x.astype("f4")); np.save("y4.npy", y.astype("f4"))'
tesela 0 dot x.npy y.npy -o d1.npy --verify --expect d.npy
prints 's = x . y,  5000 elements, f64' right agrees result
tesela 0 dot x4.npy y4.npy -o d4.npy --verify --device opencl:0
python 'import numpy as np
assert np.load("d4.npy").dtype == "f4" and abs(np.load("d4.npy") - np.load("d.npy")).max() < 1e-2'
tesela 0 dot x.npy x.npy --add s.npy --alpha -1 --beta 2 --json
cp "$out" dot.json
python "import json, numpy as np
x, d = np.load('x.npy'), json.load(open('dot.json'))
assert d['n'] == 5000 and abs(d['result'] - (5 - float((x @ x.T)[0, 0]))) < 1e-9"
tesela 2 dot x.npy x4.npy --beta 2
says 's0'
matrix short.npy 1x4999
tesela 2 dot x.npy short.npy
says x.npy 5000 short.npy 4999
tesela 2 dot x.npy f4.npy
says f4.npy '60 x 40' 'one row or one column'
tesela 1 dot x.npy y.npy --expect s.npy
says 'the dot product differs from s.npy'
