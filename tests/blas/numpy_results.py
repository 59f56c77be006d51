"""numpy_results.py FILE: writes products and factorisations of seeded matrices.

numpy_results.py --compare FILE FILE: compares two files within the bounds of their types.
"""
import sys

import numpy as np


def results():
    for kind in (np.float32, np.float64, np.complex64, np.complex128):
        random = np.random.default_rng(1)
        make = lambda *shape: random.standard_normal(shape).astype(kind)
        name = np.dtype(kind).name
        a, b, v = make(310, 270), make(270, 290), make(270)
        yield name + " product", a @ b
        yield name + " transposes", b.T @ a.T
        yield name + " views", a[::2, 5:205] @ b[5:205, ::3]
        yield name + " vector", a @ v
        yield name + " dot", np.array([v @ v, np.vdot(v, v), v[::-1] @ v[::1]])
        yield name + " small", a[:4, :4] @ b[:4, :4]
        yield name + " batch", make(5, 20, 30) @ make(30, 10)
        square = make(200, 200) + 50 * np.eye(200, dtype=kind)
        yield name + " solve", np.linalg.solve(square, make(200, 7))
        yield name + " inverse", np.linalg.inv(square)
        yield name + " einsum", np.einsum("ij,jk->ik", a, b, optimize=True)


def compare(first, second):
    assert first.files == second.files and len(first.files) == 40, first.files
    for name in first.files:
        x, y = first[name], second[name]
        assert x.dtype == y.dtype and x.shape == y.shape, name
        error, bound = np.max(np.abs(x - y)) / np.max(np.abs(x)), 50 * np.finfo(x.dtype).eps
        assert error <= bound, "%s: differs by %g, the bound is %g" % (name, error, bound)
    print(len(first.files), "results agree")


if sys.argv[1] == "--compare":
    compare(np.load(sys.argv[2]), np.load(sys.argv[3]))
else:
    np.savez(sys.argv[1], **dict(results()))
