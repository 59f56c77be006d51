"""Compares `tesela multiply` with NumPy on the named devices:

    python3 ci/compare_numpy.py build/release/bin/tesela cpu opencl:0 cuda:0

1000 x 700 by 700 x 300 in f32 and f64, every transpose, C = 1.5 A B - 0.5 C0. Each element's difference from
NumPy's product in f64 (long double for f64) must stay within the tool's bound,
(k + 4) u (1.5 |A||B| + 0.5 |C0|). Prints a line for each product; exits with 1 when one is outside.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy

M, K, N = 1000, 700, 300
ALPHA, BETA = 1.5, -0.5


def product(tesela, device, folder, dtype, transpose_a, transpose_b):
    """The largest difference over its bound."""
    random = numpy.random.default_rng(7)
    a = random.standard_normal((M, K)).astype(dtype)
    b = random.standard_normal((K, N)).astype(dtype)
    c0 = random.standard_normal((M, N)).astype(dtype)
    numpy.save(folder / "a.npy", numpy.ascontiguousarray(a.T) if transpose_a else a)
    numpy.save(folder / "b.npy", numpy.ascontiguousarray(b.T) if transpose_b else b)
    numpy.save(folder / "c0.npy", c0)
    command = [tesela, "multiply", folder / "a.npy", folder / "b.npy", "-o", folder / "c.npy", "--add",
               folder / "c0.npy", "--alpha", str(ALPHA), "--beta", str(BETA), "--device", device]
    command += ["--transpose-a"] * transpose_a + ["--transpose-b"] * transpose_b
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    c = numpy.load(folder / "c.npy")
    assert c.dtype == dtype, c.dtype
    wide = numpy.float64 if dtype == numpy.float32 else numpy.longdouble
    expected = ALPHA * (a.astype(wide) @ b.astype(wide)) + BETA * c0.astype(wide)
    scale = ALPHA * (abs(a).astype(numpy.float64) @ abs(b).astype(numpy.float64)) + abs(BETA) * abs(c0)
    bound = (K + 4) * numpy.finfo(dtype).eps / 2 * scale
    return float(numpy.max(abs(c.astype(wide) - expected) / bound))


def main():
    tesela, devices = sys.argv[1], sys.argv[2:]
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for device in devices:
            for dtype in (numpy.float32, numpy.float64):
                for transpose_a in (False, True):
                    for transpose_b in (False, True):
                        ratio = product(tesela, device, pathlib.Path(folder), dtype, transpose_a, transpose_b)
                        worst = max(worst, ratio)
                        print(f"{device:10} {numpy.dtype(dtype).name} A{'T' if transpose_a else ' '} "
                              f"B{'T' if transpose_b else ' '}"
                              f"  {ratio:.3g} of the bound")
    print("all within the bound" if worst <= 1 else "NOT within the bound")
    return worst > 1


sys.exit(main())
