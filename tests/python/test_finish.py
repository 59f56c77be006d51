"""Products with a bias and an activation, compared with NumPy's, and refusals."""

import math

import numpy
import pytest
import tesela
from hypothesis import given
from hypothesis import strategies as st

from reference import ROUNDOFF, TYPES, random, wide
from test_matmul import lay_out

REAL = ("float64", "float32", "float16", "bfloat16")
ACTIVATIONS = {
    None: lambda x: x,
    "relu": lambda x: numpy.maximum(x, 0),
    "gelu": lambda x: x * (1 + numpy.vectorize(math.erf, otypes=[float])(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
}
sizes = st.sampled_from([0, 1, 2, 5, 17, 33])
layouts = st.sampled_from(["dense", "fortran", "negative", "gaps", "swapped", "unaligned", "read_only"])
words = st.sampled_from(list(ACTIVATIONS))


def near(result, a, b, bias, activation, kind, alpha=1, beta=0, before=0.0):
    """Compares within the type's rounding; C is rounded before and after the epilogue (slope up to 1.13)."""
    sum_of = alpha * numpy.matmul(wide(a), wide(b)) + beta * wide(before) + wide(bias)
    size = abs(alpha) * numpy.matmul(abs(wide(a)), abs(wide(b))) + abs(beta * wide(before)) + abs(wide(bias))
    k = numpy.shape(a)[-1]
    sums = ROUNDOFF["float32"] if kind in ("float16", "bfloat16") else ROUNDOFF[kind]
    expected = ACTIVATIONS[activation](sum_of)
    assert result.dtype == TYPES[kind] and result.shape == expected.shape
    error, bound = abs(wide(result) - expected), (4 * (k + 10) * sums + 5 * ROUNDOFF[kind]) * size
    assert (error <= bound + (2.0**-22 if kind == "float16" else 1e-36)).all(), error.max()


def bias_of(rng, form, m, n, kind):
    return random(rng, {"row": (n,), "flat": (1, n), "column": (m, 1)}[form], kind)


@given(st.sampled_from(REAL), sizes, sizes, sizes, words, st.sampled_from(["row", "flat", "column"]), layouts,
       st.integers(0, 9))
def test_matrices(kind, m, n, k, activation, form, layout, seed):
    rng = numpy.random.default_rng(seed)
    a, b = random(rng, (m, k), kind), random(rng, (k, n), kind)
    bias = bias_of(rng, form, m, n, kind)
    if bias.ndim == 2:
        bias = lay_out(bias, layout, rng)
    result, info = tesela.matmul(a, b, bias=bias, activation=activation, full_output=True)
    near(result, a, b, bias, activation, kind)
    if m and n:
        way = "column" if form == "column" and (m, n) != (1, 1) else "row"
        assert [word for word in info.plan.split() if word.startswith(f"bias={way}")]
        assert (f"activation={activation}" in info.plan.split()) == (activation is not None)


@given(st.sampled_from(["float64", "float32"]), words, st.sampled_from(["row", "column", None]),
       st.booleans())
def test_batches_have_one_bias(kind, activation, form, shared):
    rng = numpy.random.default_rng(1)
    a, b = random(rng, (3, 2, 7, 9), kind), random(rng, (9, 5) if shared else (2, 9, 5), kind)
    bias = bias_of(rng, form, 7, 5, kind) if form else numpy.float64(0)
    near(tesela.matmul(a, b, bias=bias if form else None, activation=activation), a, b, bias, activation,
         kind)


@pytest.mark.parametrize("step", [1, 2, -1])
def test_strides_and_constants(step):
    rng = numpy.random.default_rng(2)
    a, b = random(rng, (8, 9), "float64"), random(rng, (9, 6), "float64")
    row = random(rng, (12,), "float64")[::step][:6]
    near(tesela.matmul(a, b, bias=row), a, b, row, None, "float64")
    constant = numpy.broadcast_to(row[:1], (6,))
    near(tesela.matmul(a, b, bias=constant, activation="relu"), a, b, constant, "relu", "float64")
    near(tesela.matmul(a, b, bias=list(row), activation="gelu"), a, b, row, "gelu", "float64")


def test_vectors():
    rng = numpy.random.default_rng(3)
    a, b = random(rng, (8, 9), "float64"), random(rng, (9, 6), "float64")
    row, column = random(rng, (6,), "float64"), random(rng, (8,), "float64")
    near(tesela.matmul(a[0], b, bias=row, activation="relu"), a[0], b, row, "relu", "float64")
    near(tesela.matmul(a, b[:, 0], bias=column, activation="gelu"), a, b[:, 0], column, "gelu", "float64")
    near(tesela.matmul(a[None], b[:, 0], bias=column), a[None], b[:, 0], column, None, "float64")
    assert tesela.matmul(a[0], b[:, 0], bias=[1e9], activation="relu") > 1e8


def test_out_is_added_before():
    rng = numpy.random.default_rng(4)
    a, b, before, row = (random(rng, shape, "float32") for shape in ((8, 9), (9, 6), (8, 6), (6,)))
    out = before.copy()
    assert tesela.matmul(a, b, out=out, alpha=-2, beta=0.5, bias=row, activation="gelu") is out
    near(out, a, b, row, "gelu", "float32", -2, 0.5, before)


def test_types():
    rng = numpy.random.default_rng(5)
    for kind in ("float16", "bfloat16"):
        a, b, row = random(rng, (8, 9), kind), random(rng, (9, 6), kind), random(rng, (6,), "float32")
        near(tesela.matmul(a, b, bias=row, activation="relu"), a, b, row, "relu", kind)
        near(tesela.matmul(a, b, bias=row, dtype="float32"), a, b, row, None, "float32")
    a, b, row = (random(rng, shape, "complex128") for shape in ((8, 9), (9, 6), (6,)))
    near(tesela.matmul(a, b, bias=row), a, b, row, None, "complex128")


def test_other_types_are_converted(caplog):
    a, b = numpy.ones((8, 9)), numpy.ones((9, 6))
    for kind in ("float64", "float32"):
        for row in (numpy.arange(6), numpy.arange(6, dtype="int8"), numpy.arange(6.0),
                    numpy.arange(6, dtype="float32"), list(range(6)), numpy.arange(6) > 2):
            with caplog.at_level("INFO", "tesela"):
                caplog.clear()
                near(tesela.matmul(a.astype(kind), b.astype(kind), bias=row), a, b, numpy.asarray(row), None,
                     kind)
            is_converted = hasattr(row, "dtype") and row.dtype != kind
            assert [record.getMessage() for record in caplog.records] == (
                [f"tesela converts bias: {row.dtype} becomes {kind}"] if is_converted else [])


def test_strategies_and_bounds():
    rng = numpy.random.default_rng(6)
    a, b, row = (random(rng, shape, "float32") for shape in ((40, 50), (50, 60), (60,)))
    for strategy in ("sequential", "host_packed"):
        c, info = tesela.matmul(a, b, bias=row, activation="gelu_tanh", strategy=strategy, device="cpu",
                                full_output=True)
        near(c, a, b, row, "gelu_tanh", "float32")
        plain = tesela.matmul(a, b, strategy=strategy, device="cpu", full_output=True)[1]
        assert strategy in info.plan and info.error_bound > plain.error_bound > 0


def test_long_products_in_pieces():
    from tesela import _core
    rng = numpy.random.default_rng(7)
    a, b, column = (random(rng, shape, "float64") for shape in ((700, 300), (300, 200), (700, 1)))
    whole = tesela.matmul(a, b, bias=column, activation="relu", device="cpu")
    before = _core.set_pieces(1, 1e-9)
    try:
        pieces, info = tesela.matmul(a, b, bias=column, activation="relu", device="cpu", full_output=True)
    finally:
        _core.set_pieces(*before)
    assert "activation=relu" in info.plan
    near(pieces, a, b, column, "relu", "float64")
    assert abs(pieces - whole).max() <= 1e-10


def test_torch():
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    a, b, row = torch.randn(30, 40), torch.randn(40, 20), torch.randn(20)
    result = tesela.matmul(a, b, bias=row, activation="gelu")
    assert isinstance(result, torch.Tensor)
    assert torch.allclose(result, torch.nn.functional.gelu(a @ b + row), atol=1e-4)
    z, w, c = (torch.randn(shape, dtype=torch.complex64) for shape in ((5, 6), (6, 7), (7,)))
    assert torch.allclose(tesela.matmul(z, w, bias=c.conj()), z @ w + c.conj(), atol=1e-4)


def test_measured():
    random = numpy.random.default_rng(3)
    a, b, bias = random.random((30, 40)) - 0.5, random.random((40, 20)) - 0.5, random.random(20)
    for last in ({"activation": "relu"}, {"bias": bias}, {"bias": bias, "activation": "gelu"}):
        info = tesela.matmul(a, b, measure_error=True, full_output=True, **last)[1]
        assert 0 <= info.error_measured <= info.error_bound and info.measured_rows == 30


def test_refusals():
    a, b = numpy.ones((8, 9)), numpy.ones((9, 6))
    for shape in ((8,), (5,), (6, 1), (1, 8), (8, 6), (), (1,)):
        with pytest.raises(ValueError, match="bias has the shape"):
            tesela.matmul(a, b, bias=numpy.ones(shape))
    with pytest.raises(ValueError, match="use relu, gelu or gelu_tanh"):
        tesela.matmul(a, b, activation="swish")
    for wrong in (numpy.ones(6, "complex128"), ["x"] * 6, numpy.ones(6, "M8[s]")):
        with pytest.raises(TypeError, match="bias is .*, and the result float64: it is float64"):
            tesela.matmul(a, b, bias=wrong)
    with pytest.raises(TypeError, match="complex"):
        tesela.matmul(a + 0j, b + 0j, activation="relu")
    with pytest.raises(TypeError, match="integers"):
        tesela.matmul(numpy.ones((8, 9), "int8"), numpy.ones((9, 6), "int8"), activation="relu")
    out = numpy.zeros((8, 6))
    with pytest.raises(ValueError, match="out and bias share memory"):
        tesela.matmul(a, b, out=out, bias=out[0])
    assert not out.any()
