"""Times small products from Python: python bench/python_overhead.py [threads]

Each row is a form of the call: microseconds of tesela and of NumPy, in turn, the minimum of all rounds.
"""

import sys
import time

import numpy
import tesela

ROUNDS = 25


def loop(call, count):
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count * 1e6


def rows():
    """Yields the name of each form, tesela's call and NumPy's."""
    rng = numpy.random.default_rng(1)
    a, b, out, bias = (rng.standard_normal(shape) for shape in ((8, 8), (8, 8), (8, 8), 8))
    plan, into = tesela.Plan(a, b), tesela.Plan(a, b, out=out)
    plain = lambda: numpy.matmul(a, b)
    yield "plain", lambda: tesela.matmul(a, b), plain
    yield "out", lambda: tesela.matmul(a, b, out=out), lambda: numpy.matmul(a, b, out=out)
    yield "alpha", lambda: tesela.matmul(a, b, alpha=2), lambda: 2 * (a @ b)
    yield ("alpha, beta, out", lambda: tesela.matmul(a, b, out=out, alpha=0.5, beta=0.5),
           lambda: 0.5 * (a @ b) + 0.5 * out)
    yield "bias", lambda: tesela.matmul(a, b, bias=bias), lambda: a @ b + bias
    yield "full_output", lambda: tesela.matmul(a, b, full_output=True), plain
    yield "gemm, trans_a", lambda: tesela.gemm(a, b, trans_a="t"), lambda: a.T @ b
    yield "Plan()", lambda: tesela.Plan(a, b), plain
    yield "a plan's call", lambda: plan(a, b), plain
    yield "a plan's call, out", lambda: into(a, b, out), lambda: numpy.matmul(a, b, out=out)
    wide = rng.standard_normal((128, 128))
    left, right = wide[::2, ::2], wide[1::2, 1::2]
    yield "strided 64 x 64", lambda: tesela.matmul(left, right), lambda: numpy.matmul(left, right)
    many = rng.standard_normal((1000, 8, 8))
    yield "1000 of 8 x 8", lambda: tesela.matmul(many, many), lambda: numpy.matmul(many, many)
    yield "dot of 8", lambda: tesela.dot(bias, bias), lambda: numpy.dot(bias, bias)
    ten = [a] * 10
    yield "ten, grouped", lambda: tesela.matmul_grouped(ten, ten), lambda: [x @ y for x, y in zip(ten, ten)]
    yield "syrk", lambda: tesela.syrk(a), lambda: a @ a.T
    lower = numpy.tril(a) + 9 * numpy.eye(8)
    yield ("solve_triangular", lambda: tesela.solve_triangular(lower, b, lower=True),
           lambda: numpy.linalg.solve(lower, b))
    yield "transpose", lambda: tesela.transpose(a), lambda: a.T.copy()
    whole = rng.integers(0, 9, (8, 8))
    yield "integers", lambda: tesela.matmul(whole, whole), lambda: numpy.matmul(whole, whole)
    singles = a.astype("float32")
    yield "float32 and float64", lambda: tesela.matmul(singles, b), lambda: numpy.matmul(singles, b)


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    tesela.configure(device="cpu", threads=threads)
    print(f"{'':24}{'tesela':>10}{'NumPy':>10}   us, {threads or 'all'} threads")
    for name, ours, theirs in rows():
        count = max(3, int(2000 / max(loop(ours, 2), loop(theirs, 2), 1)))
        best = [float("inf")] * 2
        for _ in range(ROUNDS):
            for i, call in enumerate((ours, theirs)):
                best[i] = min(best[i], loop(call, count))
        print(f"{name:24}{best[0]:10.2f}{best[1]:10.2f}")


if __name__ == "__main__":
    main()
