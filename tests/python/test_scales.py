"""Products with scales compared with NumPy's, plans and gemm with epilogues, and refusals."""

import numpy
import pytest
import tesela
from hypothesis import given
from hypothesis import strategies as st

from reference import ROUNDOFF, TYPES, random, wide
from test_finish import ACTIVATIONS
from test_matmul import lay_out

#: A, B, C
TYPED = [("int8", "int8", "float32"), ("uint8", "int8", "bfloat16"), ("int8", "uint8", "float16"),
         ("uint8", "uint8", "float32"),
         ("float8_e4m3fn", "float8_e5m2", "float32"), ("float8_e4m3fn", "float8_e4m3fn", "bfloat16"),
         ("bfloat16", "bfloat16", "bfloat16"), ("float16", "float16", "float32"),
         ("float32", "float32", "float16"), ("float32", "float32", "float32")]
sizes = st.sampled_from([0, 1, 2, 5, 17, 33])
layouts = st.sampled_from(["dense", "fortran", "negative", "gaps", "swapped", "unaligned", "read_only"])
forms = st.sampled_from(["none", "number", "array", "lines", "matrix"])


def scale_of(rng, form, length, axis):
    """Returns a scale as the argument of a call, and as an array that NumPy broadcasts."""
    lines = (rng.random(length) / 64).astype("float32")
    column = lines.reshape((-1, 1) if axis == 0 else (1, -1))
    return {"none": (None, 1), "number": (0.0078125, 0.0078125),
            "array": (numpy.float32([0.015625]), 0.015625),
            "lines": (lines, column), "matrix": (column, column)}[form]


def near(result, a, b, scale_a, scale_b, kind, bias=0.0, activation=None, alpha=1, beta=0, before=0.0):
    scales = wide(scale_a).astype(float) * wide(scale_b).astype(float) * alpha
    expected = ACTIVATIONS[activation](scales * numpy.matmul(wide(a), wide(b)) + beta * wide(before)
                                       + wide(bias))
    size = abs(scales) * numpy.matmul(abs(wide(a)), abs(wide(b))) + abs(beta * wide(before)) + abs(wide(bias))
    assert result.dtype == TYPES[kind] and result.shape == expected.shape
    bound = (2 * (numpy.shape(a)[-1] + 12) * ROUNDOFF["float32"] + 1.2 * ROUNDOFF[kind]) * size
    assert (abs(wide(result) - expected) <= bound + (2.0**-24 if kind == "float16" else 1e-36)).all()


@given(st.sampled_from(TYPED), sizes, sizes, sizes, forms, forms, layouts, st.integers(0, 9))
def test_matrices(kinds, m, n, k, form_a, form_b, layout, seed):
    rng = numpy.random.default_rng(seed)
    a, b = random(rng, (m, k), kinds[0]), random(rng, (k, n), kinds[1])
    scale_a, seen_a = scale_of(rng, form_a, m, 0)
    scale_b, seen_b = scale_of(rng, form_b if form_a != "none" or form_b != "none" else "number", n, 1)
    if isinstance(scale_b, numpy.ndarray) and scale_b.ndim == 2:
        scale_b = lay_out(scale_b, layout, rng)
    result, info = tesela.matmul(a, b, dtype=kinds[2], scale_a=scale_a, scale_b=scale_b, full_output=True)
    near(result, a, b, seen_a, seen_b, kinds[2])
    if m and n:
        assert ("scale_a=" in info.plan) == (form_a != "none") and "scale_" in info.plan


def test_defaults():
    a, b = numpy.full((3, 4), 100, "int8"), numpy.full((4, 5), 100, "int8")
    assert tesela.matmul(a, b).dtype == "int32"
    assert (tesela.matmul(a, b, scale_a=0.5) == numpy.float32(20000)).all()
    assert tesela.matmul(a, b, scale_b=[1, 2, 3, 4, 5]).tolist()[0] == [40000, 80000, 120000, 160000, 200000]
    assert tesela.matmul(a.astype("float16"), b.astype("float16"), scale_a=2**-10).dtype == "float16"
    for scale in (numpy.full(3, 0.5), numpy.full(3, 0.5, ">f8"), numpy.float64(0.5), [0.5] * 3):
        assert (tesela.matmul(a, b, scale_a=scale) == numpy.float32(20000)).all()
    assert (tesela.matmul(a, b, scale_a=numpy.full(3, 2)) == numpy.float32(80000)).all()
    assert (tesela.matmul(a, b.astype("float32"), scale_a=0.5) == numpy.float32(20000)).all()


def test_batches_and_vectors():
    rng = numpy.random.default_rng(1)
    a, b = random(rng, (3, 2, 7, 9), "int8"), random(rng, (9, 5), "int8")
    (rows, seen_rows), (cols, seen_cols) = scale_of(rng, "lines", 7, 0), scale_of(rng, "lines", 5, 1)
    near(tesela.matmul(a, b, scale_a=rows, scale_b=cols), a, b, seen_rows, seen_cols, "float32")
    near(tesela.matmul(a, b, scale_a=0.5, scale_b=cols), a, b, 0.5, seen_cols, "float32")
    near(tesela.matmul(a[0, 0, 0], b, scale_b=cols), a[0, 0, 0], b, 1, cols, "float32")
    near(tesela.matmul(a[0], b[:, 0], scale_a=rows), a[0], b[:, 0], rows, 1, "float32")


def test_with_other_last_steps():
    rng = numpy.random.default_rng(2)
    a, b = random(rng, (8, 9), "int8"), random(rng, (9, 6), "int8")
    before, row = (random(rng, s, "float32") for s in ((8, 6), (6,)))
    rows, seen = scale_of(rng, "lines", 8, 0)
    out = before.copy()
    assert tesela.matmul(a, b, out=out, alpha=-2, beta=0.5, scale_a=rows, bias=row, activation="gelu") is out
    near(out, a, b, seen, 1, "float32", row, "gelu", -2, 0.5, before)
    strided = numpy.repeat(rows, 2)[::-2]
    near(tesela.matmul(a, b, scale_a=strided), a, b, strided[:, None], 1, "float32")
    constant = numpy.broadcast_to(rows[:1], (8,))
    near(tesela.matmul(a, b, scale_a=constant), a, b, constant[:, None], 1, "float32")


def test_gemm():
    rng = numpy.random.default_rng(3)
    a, b, c, column = (random(rng, s, "float32") for s in ((9, 8), (6, 9), (8, 6), (8, 1)))
    rows, seen = scale_of(rng, "lines", 8, 0)
    result = tesela.gemm(a, b, c, trans_a="t", trans_b="t", beta=2, scale_a=rows, bias=column,
                         activation="relu")
    near(result, a.T, b.T, seen, 1, "float32", column, "relu", 1, 2, c)
    near(tesela.gemm(a, b, trans_a="t", trans_b="t", bias=column), a.T, b.T, 1, 1, "float32", column)
    with pytest.raises(ValueError, match="out and scale_a share memory"):
        tesela.gemm(a, b, out=c, trans_a="t", trans_b="t", scale_a=c[:, 0])


def test_plans():
    rng = numpy.random.default_rng(4)
    a, b, row = random(rng, (40, 50), "int8"), random(rng, (50, 60), "int8"), random(rng, (60,), "float32")
    rows, seen = scale_of(rng, "lines", 40, 0)
    plan = tesela.Plan(a, b, scale_a=rows, scale_b=2, bias=row, activation="gelu")
    assert "scale_a=lines scale_b=tensor" in plan.text and "activation=gelu" in plan.text
    for factor in (2, 3):
        near(plan(a, b, scale_a=rows * factor, scale_b=factor, bias=-row), a, b, seen * factor, factor,
             "float32", -row, "gelu")
    near(plan(a, plan.pack(b=b), scale_a=rows, scale_b=1, bias=row), a, b, seen, 1, "float32", row, "gelu")
    for given in ({}, {"bias": row}, {"bias": row, "scale_a": 2, "scale_b": 2},
                  {"bias": row, "scale_a": rows.repeat(2)[::2], "scale_b": 2}):
        with pytest.raises(ValueError, match="do not fit the plan"):
            plan(a, b, **given)
    plan = tesela.Plan(a, b)
    with pytest.raises(TypeError, match="the result is int32"):
        plan(a, b, bias=row)
    with pytest.raises(ValueError, match="do not fit the plan"):
        plan(a, b, scale_a=2)
    biased = tesela.Plan(a.astype("float32"), b.astype("float32"), bias=row)
    near(biased(a.astype("float32"), b.astype("float32"), bias=row), a, b, 1, 1, "float32", row)


def test_long_products_in_pieces(short_pieces):
    rng = numpy.random.default_rng(7)
    a, b = random(rng, (700, 300), "int8"), random(rng, (300, 200), "int8")
    rows, seen = scale_of(rng, "lines", 700, 0)
    near(tesela.matmul(a, b, scale_a=rows, device="cpu"), a, b, seen, 1, "float32")


def test_torch():
    torch = pytest.importorskip("torch")
    a = torch.randint(-128, 128, (30, 40), dtype=torch.int8)
    b = torch.randint(-128, 128, (40, 20), dtype=torch.int8)
    rows = torch.rand(30)
    result = tesela.matmul(a, b, scale_a=rows, scale_b=0.5)
    assert isinstance(result, torch.Tensor) and result.dtype == torch.float32
    assert torch.allclose(result, rows[:, None] * (a.double() @ b.double()).float() * 0.5, rtol=1e-5)


def test_refusals():
    a, b = numpy.ones((8, 9), "int8"), numpy.ones((9, 6), "int8")
    for shape in ((6,), (9,), (1, 8), (8, 6), (2,)):
        with pytest.raises(ValueError, match="scale_a has the shape"):
            tesela.matmul(a, b, scale_a=numpy.ones(shape, "float32"))
    with pytest.raises(ValueError, match="scale_b has the shape"):
        tesela.matmul(a, b, scale_b=numpy.ones((6, 1), "float32"))
    with pytest.raises(TypeError, match="scale_a is complex128: scales are float32"):
        tesela.matmul(a, b, scale_a=numpy.ones(8, "complex128"))
    with pytest.raises(TypeError, match="is float32 or bfloat16 or float16, not int32"):
        tesela.matmul(a, b, scale_a=2, dtype="int32")
    with pytest.raises(TypeError, match="have no scales"):
        tesela.matmul(a.astype(float), b.astype(float), scale_a=2)
    with pytest.raises(tesela.Error, match="not measured"):
        tesela.matmul(a, b, scale_a=2, measure_error=True)
    out = numpy.zeros((8, 6), "float32")
    with pytest.raises(ValueError, match="out and scale_b share memory"):
        tesela.matmul(a, b, out=out, scale_b=out[0])
    deep = numpy.full((1, 33026), 255, "uint8")
    with pytest.raises(ValueError, match="fit 32 bits only up to k=33025"):
        tesela.matmul(deep, deep.T, scale_a=1)
    assert not out.any()
