"""matmul_grouped: products of any sizes in one call, with the bits of matmul."""

import numpy
import pytest

import tesela


def operands(seed, count, dtype):
    draw = numpy.random.default_rng(seed)
    sizes = draw.integers(0, 60, size=(count, 3))
    return ([draw.standard_normal((m, k)).astype(dtype) for m, _, k in sizes],
            [draw.standard_normal((n, k)).astype(dtype).T for _, n, k in sizes])


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64, numpy.complex64])
def test_bits_of_matmul(dtype):
    a, b = operands(1, 40, dtype)
    got, info = tesela.matmul_grouped(a, b, device="cpu", full_output=True)
    assert info.plan.startswith("gemm ") and info.error_bound > 0
    for x, y, c in zip(a, b, got):
        assert c.shape == (x.shape[0], y.shape[1])
        assert (c == tesela.matmul(x, y, device="cpu")).all()


def test_out_and_mixed_types():
    a = [numpy.ones((2, 3)), numpy.ones((4, 5), numpy.float32)]
    b = [numpy.ones((3, 2)), numpy.ones((5, 1), numpy.float32)]
    out = [numpy.full((2, 4), 7.0)[:, ::2], numpy.full((4, 1), 7, numpy.float32)]
    got = tesela.matmul_grouped(a, b, out, alpha=2, beta=1)
    assert got[0] is out[0] and (out[0] == 13).all() and (out[1] == 17).all()
    assert tesela.matmul_grouped([], []) == []


def test_wrong_products_have_a_number():
    a, b = operands(2, 5, numpy.float32)
    with pytest.raises(ValueError, match="product 3: a is"):
        tesela.matmul_grouped(a, b[:3] + [numpy.ones((99, 2), numpy.float32)] + b[4:])
    with pytest.raises(ValueError, match="equal numbers"):
        tesela.matmul_grouped(a, b[:4])
    same = numpy.zeros((4, 4), numpy.float32)
    square = [numpy.ones((4, 4), numpy.float32)] * 2
    with pytest.raises(ValueError, match="C of product 1 overlaps C of product 0"):
        tesela.matmul_grouped(square, square, [same, same])
    assert (same == 0).all()


def test_out_has_elements_of_its_own():
    a, b = numpy.ones((3, 2)), numpy.ones((2, 4))
    room = numpy.zeros(16)
    folded = numpy.lib.stride_tricks.as_strided(room, (3, 4), (16, 8))
    with pytest.raises(ValueError, match="elements of out overlap"):
        tesela.matmul_grouped([a], [b], [folded])
    assert not room.any()


def test_beta_needs_out():
    a, b = numpy.ones((3, 2)), numpy.ones((2, 4))
    with pytest.raises(ValueError, match="out is not given"):
        tesela.matmul_grouped([a], [b], beta=1)
