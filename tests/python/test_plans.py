"""Plans, packed operands, dots and transposes."""

import numpy
import pytest
import tesela
from hypothesis import given
from hypothesis import strategies as st

from reference import COMBINATIONS, check, random


@given(st.sampled_from(COMBINATIONS), st.sampled_from([1, 4, 33]), st.sampled_from([1, 9]),
       st.sampled_from([1, 20]))
def test_plan(types, m, n, k):
    rng = numpy.random.default_rng(m)
    a, b = random(rng, (m, k), types[0]), random(rng, (k, n), types[1])
    plan = tesela.Plan(a, b, dtype=types[2])
    assert plan.text.startswith("gemm ") and plan.shape == (m, n, k)
    again = random(rng, (m, k), types[0])
    whole, info = plan(again, b, full_output=True)
    check(whole, again, b, types[2], bound=info.error_bound)
    for packed_a, packed_b in ((again, plan.pack(b=b)), (plan.pack(a=again), b),
                               (plan.pack(a=again), plan.pack(b=b))):
        assert (plan(packed_a, packed_b) == whole).all()


def test_plan_with_out():
    rng = numpy.random.default_rng(1)
    a, b = random(rng, (6, 7), "float64"), random(rng, (7, 8), "float64").copy("F")
    out = random(rng, (6, 8), "float64").copy("F")
    before = out.copy()
    plan = tesela.Plan(a, b, out=out, alpha=2, beta=3)
    assert plan(a, b, out=out) is out
    check(out, a, b, "float64", 2, 3, before)
    with pytest.raises(ValueError, match="out is not given"):
        plan(a, b)
    with pytest.raises(ValueError, match="strides"):
        plan(a, b, out=before.copy("C"))
    memory = numpy.empty(100)
    shared_b, shared_out = memory[:56].reshape(7, 8, order="F"), memory[50:98].reshape(6, 8, order="F")
    with pytest.raises(ValueError, match="share memory"):
        plan(a, shared_b, out=shared_out)


def test_plan_refuses():
    a, b = numpy.ones((3, 4)), numpy.ones((4, 5))
    plan = tesela.Plan(a, b)
    for wrong in (numpy.ones((4, 4)), numpy.ones((3, 4), numpy.float32), numpy.ones((4, 3)).T,
                  numpy.ones((3, 8))[:, ::2], numpy.ones((3, 8))[:, :4],
                  numpy.ones((3, 4), "complex128"), numpy.ones((1, 3, 4)), numpy.ones((3, 4), int)):
        with pytest.raises(ValueError, match="the plan is for float64"):
            plan(wrong, b)
    with pytest.raises(ValueError, match="packed as b"):
        plan(plan.pack(b=b), b)
    with pytest.raises(ValueError, match="another plan"):
        plan(a, tesela.Plan(numpy.ones((9, 4)), b).pack(b=b))
    with pytest.raises(ValueError, match="a or b"):
        plan.pack()
    with pytest.raises(ValueError, match="two matrices"):
        tesela.Plan(a[0], b)
    with pytest.raises(ValueError, match="do not match"):
        tesela.Plan(a, a)


def test_packed_outlives_its_operand_and_its_plan():
    a, b = numpy.ones((30, 40)), numpy.ones((40, 50))
    packed = tesela.Plan(a, b).pack(b=b)
    b[:] = numpy.nan
    assert (tesela.Plan(a, b)(a, packed) == 40).all()


@given(st.sampled_from(["float64", "float32", "float16", "bfloat16", "int8", "uint8"]),
       st.sampled_from([0, 1, 5, 1000]), st.sampled_from([1, 2, -1]), st.sampled_from([1, -3]))
def test_dot(name, n, step, alpha):
    rng = numpy.random.default_rng(n)
    x, y = random(rng, (2 * n,), name)[::step][:n], random(rng, (n,), name)
    kind = "int32" if name in ("int8", "uint8") else name
    check(tesela.dot(x, y, alpha=alpha), x, y, kind, alpha)


def test_dot_exact():
    x = numpy.array([1e16, 1.0, -1e16, 2.0**-60])
    result, info = tesela.dot(x, numpy.ones(4), strategy="exact", full_output=True)
    assert result == 1.0 and "exact" in info.plan
    assert tesela.dot(numpy.broadcast_to(2.0, (5,)), numpy.ones(5)) == 10
    assert tesela.dot(numpy.ones(3, "float16"), numpy.ones(3, "float16"),
                      dtype=numpy.float32).dtype == numpy.float32


def test_dot_refuses():
    with pytest.raises(ValueError, match="elements"):
        tesela.dot(numpy.ones(3), numpy.ones(4))
    with pytest.raises(ValueError, match="matmul takes"):
        tesela.dot(numpy.ones((3, 3)), numpy.ones(3))
    with pytest.raises(TypeError, match="no dot products of complex64"):
        tesela.dot(numpy.ones(3, "complex64"), numpy.ones(3, "complex64"))


@given(st.sampled_from(["float64", "float32", "float16", "bfloat16", "complex64", "complex128", "int8",
                        "uint8"]),
       st.sampled_from([0, 1, 3, 40]), st.sampled_from([1, 7, 33]), st.booleans())
def test_transpose(name, rows, cols, fortran):
    rng = numpy.random.default_rng(rows)
    a = random(rng, (rows, cols), name)
    if fortran:
        a = numpy.asfortranarray(a)
    result = tesela.transpose(a)
    assert result.dtype == a.dtype and result.flags.c_contiguous and (result == a.T).all()
    out = numpy.empty((cols, rows), a.dtype, order="F")
    assert tesela.transpose(a, out) is out and (out == a.T).all()


def test_transpose_in_place_and_scaled():
    a = numpy.arange(9.0).reshape(3, 3)
    expected = 2 * a.T
    assert tesela.transpose(a, out=a, alpha=2) is a and (a == expected).all()
    with pytest.raises(ValueError, match="share memory"):
        tesela.transpose(a[:2], out=a[:, :2])
    with pytest.raises(TypeError, match="possible are float64"):
        tesela.transpose(numpy.ones((2, 2), "int64"))
    with pytest.raises(ValueError, match="dimensions"):
        tesela.transpose(numpy.ones(3))
    assert (tesela.transpose(numpy.broadcast_to(3.0, (2, 4))) == 3).all()
