"""Matrices in pieces on the processor and an OpenCL device, compared with NumPy."""

import random

import numpy
import pytest
import tesela
import tesela.pieces

DEVICES = ["cpu", "opencl:0"]
pytestmark = pytest.mark.skipif("opencl:0" not in [device.name for device in tesela.devices()],
                                reason="needs an OpenCL device")


def whole_numbers(shape, dtype, seed):
    values = numpy.random.default_rng(seed).integers(-4, 5, shape)
    if dtype.startswith("complex"):
        values = values + 1j * numpy.random.default_rng(seed + 100).integers(-4, 5, shape)
    return values.astype(dtype)


def cut(random_numbers, rows, cols, devices):
    """Rectangles that cover a matrix, each on some device."""
    row_ends = sorted({0, rows, *(random_numbers.randrange(rows) for _ in range(2))})
    places = []
    for row, row_end in zip(row_ends, row_ends[1:]):
        col_ends = sorted({0, cols, random_numbers.randrange(cols)})
        places += [(random_numbers.choice(devices), row, col, row_end - row, col_end - col)
                   for col, col_end in zip(col_ends, col_ends[1:])]
    random_numbers.shuffle(places)
    return places


# Few types, each of which has kernels to compile.
@pytest.mark.parametrize(("dtype", "trans_a"), [("float32", "n"), ("float32", "t"), ("complex64", "c"),
                                                ("int8", "n")])
def test_products(dtype, trans_a):
    numbers = random.Random(dtype + trans_a)
    m, n, k = 37, 29, 41
    for trans_b in ("n", "t"):
        a, b = whole_numbers((m, k), dtype, 1), whole_numbers((k, n), dtype, 2)
        kind = "int32" if dtype == "int8" else dtype
        expected = a.astype(kind) @ b.astype(kind)
        stored_a = {"n": a, "t": a.T, "c": a.conj().T}[trans_a]
        stored_b = b.T if trans_b == "t" else b
        left = tesela.pieces.spread(stored_a, cut(numbers, *stored_a.shape, DEVICES))
        right = tesela.pieces.spread(stored_b, cut(numbers, *stored_b.shape, DEVICES))
        assert numpy.array_equal(left.numpy(), stored_a) and numpy.array_equal(right.numpy(), stored_b)
        before = whole_numbers((m, n), kind, 3)
        out = tesela.pieces.spread(before, cut(numbers, m, n, DEVICES))
        result, info = tesela.pieces.matmul(left, right, out, alpha=2, beta=-1, trans_a=trans_a,
                                            trans_b=trans_b, full_output=True)
        assert result is out and info.plan.startswith("gemm ") and info.seconds > 0
        assert numpy.array_equal(out.numpy(), 2 * expected - before)
        # C of its own: rows on the devices that hold something.
        fresh = tesela.pieces.matmul(left, right, trans_a=trans_a, trans_b=trans_b)
        assert fresh.devices == list(dict.fromkeys(left.devices + right.devices))
        assert numpy.array_equal(fresh.numpy(), expected)


def test_arrays_where_they_lie():
    """Arrays of the host are pieces on the processor, read and written in place."""
    a, b = whole_numbers((30, 20), "float32", 1), whole_numbers((20, 26), "float32", 2)
    wide = numpy.full((30, 40), 7, "float32")
    top, bottom = wide[:11, 3:29], wide[11:, 3:29]
    c = tesela.pieces.of((30, 26), [(11, 0, bottom), (0, 0, top)])
    assert c.places == [("cpu", 11, 0, 19, 26), ("cpu", 0, 0, 11, 26)] and c.dtype == "float32"
    left = tesela.pieces.of((30, 20), [(0, 0, a[:, :9]), (0, 9, a[:, 9:])])
    assert tesela.pieces.matmul(left, tesela.pieces.spread(b, DEVICES), c) is c
    assert numpy.array_equal(wide[:, 3:29], a @ b)
    assert (wide[:, :3] == 7).all() and (wide[:, 29:] == 7).all()
    # By columns.
    by_columns = tesela.pieces.of((30, 20), [(0, 0, numpy.asfortranarray(a)[:, :9]),
                                             (0, 9, numpy.asfortranarray(a)[:, 9:])])
    assert numpy.array_equal(by_columns.numpy(), a)
    by_columns.write(-a)
    assert numpy.array_equal(by_columns.numpy(), -a)
    tesela.pieces.matmul(by_columns, tesela.pieces.spread(b, "opencl:0"), c)
    assert numpy.array_equal(wide[:, 3:29], -(a @ b))


def test_plan():
    a, b, other = (whole_numbers((48, 48), "float32", seed) for seed in (1, 2, 3))
    left, right = (tesela.pieces.spread(matrix, DEVICES) for matrix in (a, b))
    c, again = (tesela.pieces.empty((48, 48), "float32", DEVICES) for _ in range(2))
    plan = tesela.pieces.Plan(left, right, c)
    assert "place=pieces" in plan.text
    assert plan(left, right, c) is c and numpy.array_equal(c.numpy(), a @ b)
    second = tesela.pieces.spread(other, DEVICES)
    assert numpy.array_equal(plan(second, right, again).numpy(), other @ b)
    left.write(other)
    assert numpy.array_equal(plan(left, right, c).numpy(), other @ b)
    with pytest.raises(ValueError, match="pieces of b are not"):
        plan(left, tesela.pieces.spread(b, ["cpu"]), c)


def test_refused():
    a = numpy.ones((8, 6), "float32")
    good = tesela.pieces.spread(a, DEVICES)
    square = tesela.pieces.spread(numpy.ones((6, 6), "float32"), DEVICES)
    with pytest.raises(ValueError, match="6 columns do not match 8 rows"):
        tesela.pieces.matmul(good, good)
    with pytest.raises(TypeError, match="spread"):
        tesela.pieces.matmul(a, square)
    with pytest.raises(ValueError, match="rows 4 to 9"):
        tesela.pieces.empty((8, 6), "float32", [("cpu", 4, 0, 5, 6)])
    with pytest.raises(ValueError, match="no places"):
        tesela.pieces.empty((8, 6), "float32", [])
    with pytest.raises(TypeError, match="int64"):
        tesela.pieces.spread(numpy.ones((2, 2), "int64"), "cpu")
    with pytest.raises(tesela.Error, match="no device opencl:99"):
        tesela.pieces.empty((8, 6), "float32", ["opencl:99"])
    gap = tesela.pieces.empty((8, 6), "float32", [("cpu", 0, 0, 3, 6), ("cpu", 4, 0, 4, 6)])
    with pytest.raises(ValueError, match="(?s)c.*piece"):
        tesela.pieces.matmul(good, square, gap)
    on_one = [tesela.pieces.spread(numpy.ones((4, 4), "float32"), "cpu") for _ in range(2)]
    with pytest.raises(ValueError, match="cpu is one device"):
        tesela.pieces.matmul(*on_one)
    with pytest.raises(ValueError, match="out is not given"):
        tesela.pieces.matmul(good, square, beta=1)
    with pytest.raises(ValueError, match="copy one matrix"):
        tesela.pieces.matmul(square, square, square)
    fixed = numpy.ones((8, 6), "float32")
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        tesela.pieces.matmul(good, square, tesela.pieces.of((8, 6), [(0, 0, fixed)]))
    with pytest.raises(TypeError, match="float64"):
        good.write(numpy.ones((8, 6)))
    with pytest.raises(ValueError, match="negative"):
        tesela.pieces.of((8, 6), [(0, 0, a[::-1])])
    assert tesela.pieces.matmul(tesela.pieces.empty((0, 6), "float32", "cpu"), square).numpy().shape == (0, 6)
