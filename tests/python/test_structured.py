"""Level 3 except gemm: triangles and symmetric matrices, compared with NumPy's products of full matrices."""

import numpy
import pytest
import tesela
from hypothesis import given
from hypothesis import strategies as st

from reference import ROUNDOFF, random
from test_matmul import lay_out

kinds = st.sampled_from(["float64", "float32", "complex64", "complex128"])
sizes = st.sampled_from([0, 1, 2, 5, 17, 40])
layouts = st.sampled_from(["dense", "fortran", "negative", "gaps", "swapped", "unaligned", "read_only"])
flags = st.booleans()
hows = st.sampled_from(["n", "t", "c"])


def half(a, lower, unit=False):
    """Returns the full triangular matrix, and the array with NaN where no call may read."""
    kept = numpy.tril(a) if lower else numpy.triu(a)
    hidden = numpy.triu(numpy.ones(a.shape, bool), 1) if lower else numpy.tril(numpy.ones(a.shape, bool), -1)
    if unit:
        numpy.fill_diagonal(kept, 1)
        hidden |= numpy.eye(len(a), dtype=bool)
    shown = a.copy()
    shown[hidden] = numpy.nan
    return kept, shown


def op(a, how):
    return a if how == "n" else a.T if how == "t" else a.conj().T


def triangle_of(rng, n, kind):
    return (random(rng, (n, n), kind) / (n + 1) + 2 * numpy.eye(n)).astype(kind)


def near(result, expected, size, k, kind):
    assert result.dtype == numpy.dtype(kind) and result.shape == expected.shape
    assert (abs(result - expected) <= 8 * (k + 4) * ROUNDOFF[kind] * size).all()


def wide(a):
    return a.astype("complex128" if a.dtype.kind == "c" else "float64")


@given(kinds, sizes, sizes, flags, flags, hows, flags, layouts, layouts, st.integers(0, 9))
def test_solves(kind, n, k, lower, unit, how, right, a_layout, b_layout, seed):
    rng = numpy.random.default_rng(seed)
    meant, shown = half(triangle_of(rng, n, kind), lower, unit)
    b = random(rng, (k, n) if right else (n, k), kind)
    x, info = tesela.solve_triangular(lay_out(shown, a_layout, rng), lay_out(b, b_layout, rng), lower=lower,
                                      unit_diagonal=unit, trans=how, right=right, alpha=-2, full_output=True)
    t = op(wide(meant), how)
    made, size = (wide(x) @ t, abs(wide(x)) @ abs(t)) if right else (t @ wide(x), abs(t) @ abs(wide(x)))
    assert x.dtype == b.dtype and x.shape == b.shape
    assert (abs(made + 2 * wide(b)) <= 8 * (n + 4) * ROUNDOFF[kind] * (size + abs(b)) + 1e-30).all()
    if n and k:
        assert info.plan.startswith("solve ") and info.error_bound > 0


@given(kinds, sizes, sizes, flags, flags, hows, flags, layouts, layouts, st.integers(0, 9))
def test_triangles_multiply(kind, n, k, lower, unit, how, right, a_layout, b_layout, seed):
    rng = numpy.random.default_rng(seed)
    meant, shown = half(random(rng, (n, n), kind), lower, unit)
    b = random(rng, (k, n) if right else (n, k), kind)
    given_b = lay_out(b, b_layout, rng)
    c = tesela.trmm(lay_out(shown, a_layout, rng), given_b, lower=lower, unit_diagonal=unit, trans=how,
                    right=right)
    t = op(wide(meant), how)
    expected, size = (wide(b) @ t, abs(wide(b)) @ abs(t)) if right else (t @ wide(b), abs(t) @ abs(wide(b)))
    near(c, expected, size, n, kind)
    place = b.copy()
    assert tesela.trmm(shown, place, place, lower=lower, unit_diagonal=unit, trans=how, right=right) is place
    near(place, expected, size, n, kind)


@given(kinds, sizes, sizes, flags, flags, flags, layouts, layouts, st.integers(0, 9))
def test_symmetric_factors(kind, n, k, lower, hermitian, right, a_layout, b_layout, seed):
    rng = numpy.random.default_rng(seed)
    meant, shown = half(random(rng, (n, n), kind), lower)
    other = numpy.tril(meant, -1) if lower else numpy.triu(meant, 1)
    full = wide(other + op(other, "c" if hermitian else "t"))
    numpy.fill_diagonal(full, meant.diagonal().real if hermitian else meant.diagonal())
    b = random(rng, (k, n) if right else (n, k), kind)
    before = random(rng, b.shape, kind)
    out = before.copy()
    tesela.symm(lay_out(shown, a_layout, rng), lay_out(b, b_layout, rng), out, lower=lower,
                hermitian=hermitian, right=right, alpha=2, beta=-1)
    expected = 2 * (wide(b) @ full if right else full @ wide(b)) - wide(before)
    size = 2 * (abs(wide(b)) @ abs(full) if right else abs(full) @ abs(wide(b))) + abs(before)
    near(out, expected, size, n, kind)


@given(kinds, sizes, sizes, flags, flags, st.sampled_from(["both", "lower", "upper"]), layouts,
       st.integers(0, 9))
def test_symmetric_results(kind, n, k, trans, hermitian, triangle, layout, seed):
    rng = numpy.random.default_rng(seed)
    a = random(rng, (k, n) if trans else (n, k), kind)
    how = "c" if hermitian else "t"
    full = op(wide(a), how) @ wide(a) if trans else wide(a) @ op(wide(a), how)
    size = abs(wide(a)).T @ abs(wide(a)) if trans else abs(wide(a)) @ abs(wide(a)).T
    result = tesela.syrk(lay_out(a, layout, rng), trans=trans, hermitian=hermitian, triangle=triangle)
    cut = {"both": lambda x: x, "lower": numpy.tril, "upper": numpy.triu}[triangle]
    near(result, cut(full), size, k, kind)
    if triangle == "both":
        assert (result == op(result, how)).all()
    held = random(rng, (n, n), kind)
    held = held + op(held, how)
    numpy.fill_diagonal(held, held.diagonal().real)
    out = held.copy()
    assert tesela.syrk(a, out, trans=trans, hermitian=hermitian, triangle=triangle, alpha=-1, beta=2) is out
    wanted = 2 * wide(held) - full
    beside = {"both": numpy.zeros((n, n), bool), "lower": numpy.triu(numpy.ones((n, n), bool), 1),
              "upper": numpy.tril(numpy.ones((n, n), bool), -1)}[triangle]
    assert (out[beside] == held[beside]).all()
    near(numpy.where(beside, 0, out).astype(kind), numpy.where(beside, 0, wanted), size + 2 * abs(held), k,
         kind)


def test_large_results_are_mirrored():
    a = numpy.random.default_rng(1).standard_normal((700, 30))
    c = tesela.syrk(a)
    assert (c == c.T).all() and abs(c - a @ a.T).max() < 1e-12


def test_vectors_and_places():
    a, b = numpy.array([[2.0, 7.0], [1.0, 4.0]]), numpy.array([2.0, 9.0])
    assert (tesela.solve_triangular(a, b, lower=True) == [1, 2]).all()
    assert (tesela.solve_triangular(a, b[::-1], lower=True) == [4.5, -0.625]).all()
    assert tesela.solve_triangular(a, b, b, lower=True) is b and (b == [1, 2]).all()
    assert (tesela.trmm(a, b, lower=True) == [2, 9]).all()
    assert (tesela.solve_triangular([[1, 1], [0, 0.5]], [[1.0], [2.0]]) == [[-3], [4]]).all()


def test_torch():
    torch = pytest.importorskip("torch")
    a = torch.tensor([[2.0, 0.0], [1.0, 4.0]])
    assert torch.equal(tesela.solve_triangular(a, torch.tensor([2.0, 9.0]), lower=True),
                       torch.tensor([1.0, 2.0]))
    assert torch.equal(tesela.syrk(a), a @ a.T)


def test_jax():
    jnp = pytest.importorskip("jax.numpy")
    a = jnp.array([[2.0, 0.0], [1.0, 4.0]], "float32")
    assert (tesela.syrk(a) == a @ a.T).all() and type(tesela.syrk(a)) is type(a)
    assert (tesela.solve_triangular(a, jnp.array([2.0, 9.0], "float32"),
                                    lower=True) == jnp.array([1.0, 2.0])).all()


@pytest.mark.parametrize("call, error, words", [
    (lambda a, b: tesela.solve_triangular(a[:2], b), ValueError, "a triangular matrix is square"),
    (lambda a, b: tesela.solve_triangular(a, b[:2]), ValueError, "b has 2 rows"),
    (lambda a, b: tesela.solve_triangular(a, b, right=True), ValueError, "b has 4 columns"),
    (lambda a, b: tesela.solve_triangular(a, b[:, 0], right=True), ValueError, "row"),
    (lambda a, b: tesela.solve_triangular(a, b, trans="x"), ValueError, "trans"),
    (lambda a, b: tesela.solve_triangular(a, b, alpha=1j), TypeError, "complex"),
    (lambda a, b: tesela.solve_triangular(a, b.astype("f4"), b.astype("f4")), TypeError,
     "out is float32, and the result float64"),
    (lambda a, b: tesela.solve_triangular(a.astype("f2"), b.astype("f2")), TypeError, "float16"),
    (lambda a, b: tesela.solve_triangular(a, b, b[::-1]), ValueError, "share memory"),
    (lambda a, b: tesela.solve_triangular(a, b, numpy.empty((2, 4))), ValueError, "shape"),
    (lambda a, b: tesela.solve_triangular(a, b, strategy="tile_local"), (ValueError, tesela.Error),
     "tile_local"),
    (lambda a, b: tesela.symm(a, b, beta=1), ValueError, "out is not given"),
    (lambda a, b: tesela.symm(a, b, a), ValueError, "shape"),
    (lambda a, b: tesela.syrk(a, a), ValueError, "share memory"),
    (lambda a, b: tesela.syrk(a, triangle="left"), ValueError, "triangle"),
    (lambda a, b: tesela.syrk(a.astype("c8"), hermitian=True, alpha=1j), TypeError, "real"),
    (lambda a, b: tesela.syrk(b[0]), ValueError, "dimensions"),
])
def test_mistakes_are_named(call, error, words):
    a = numpy.eye(3)
    b = numpy.ones((3, 4))
    with pytest.raises(error, match=words):
        call(a, b)


@pytest.mark.parametrize("n, k", [(0, 0), (0, 3), (3, 0)])
def test_nothing_to_compute(n, k):
    square, side = numpy.eye(n), numpy.ones((n, k))
    for call in (tesela.solve_triangular, tesela.trmm, tesela.symm):
        result, info = call(square, side, full_output=True)
        assert result.shape == (n, k) and (info.plan == "") == (n * k == 0)
        out = numpy.ones((n, k))
        assert call(square, side, out) is out
    assert (tesela.syrk(side) == numpy.zeros((n, n))).all() and tesela.syrk(side, trans=True).shape == (k, k)
    assert tesela.transpose(side).shape == (k, n)
    assert tesela.matmul_grouped([square, side.T], [side, side])[1].shape == (k, k)
    assert tesela.matmul_grouped([], []) == [] and tesela.dot(side.ravel()[:0], side.ravel()[:0]) == 0


@pytest.mark.parametrize("name", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 31, 33, 70])
def test_both_triangles_of_a_result_in_any_layout(name, n):
    rng = numpy.random.default_rng(n)
    a = rng.integers(-3, 4, (n, 5)).astype(name)
    if name.startswith("complex"):
        a = a + 1j * rng.integers(-3, 4, (n, 5)).astype(a.real.dtype)
    memory = numpy.zeros((2 * n, 3 * n), name)
    for out in (None, numpy.empty((n, n), name, order="F"), numpy.empty((n, n), name)[::-1, ::-1],
                memory[::2, ::3]):
        for hermitian in (False, True):
            expected = a @ (a.conj().T if hermitian else a.T)
            assert (tesela.syrk(a, out, hermitian=hermitian) == expected).all()
    assert not memory[1::2].any() and not memory[:, 1::3].any()
