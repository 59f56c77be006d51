"""matmul and gemm compared with NumPy's, over types, shapes and strides, and refusals."""

import numpy
import pytest
import tesela
from hypothesis import given
from hypothesis import strategies as st

from reference import COMBINATIONS, TYPES, check, random

sizes = st.sampled_from([0, 1, 2, 3, 5, 8, 17, 33])


def lay_out(array, layout, rng):
    """The same elements in another order of memory."""
    if layout == "fortran":
        return numpy.asfortranarray(array)
    if layout == "negative":
        return array[..., ::-1, ::-1].copy()[..., ::-1, ::-1]
    if layout == "gaps":
        wider = random(rng, array.shape[:-2] + (2 * array.shape[-2], 3 * array.shape[-1]),
                       "float32").astype(array.dtype)
        wider[..., ::2, ::3] = array
        return wider[..., ::2, ::3]
    is_numpy = array.dtype.isnative and array.dtype.type.__module__ == "numpy"
    if layout == "swapped" and array.dtype.kind in "fc" and is_numpy:
        return array.astype(array.dtype.newbyteorder(">"))
    if layout == "unaligned":
        memory = numpy.zeros(array.nbytes + 1, numpy.uint8)
        moved = numpy.frombuffer(memory.data, array.dtype, array.size, offset=1).reshape(array.shape)
        moved[...] = array
        return moved
    if layout == "read_only":
        array = array.copy()
        array.flags.writeable = False
    if layout == "one_row" and array.size:
        return numpy.broadcast_to(array[..., :1, :], array.shape)
    if layout == "one_column" and array.size:
        return numpy.broadcast_to(array[..., :1], array.shape)
    if layout == "one_element" and array.size:
        return numpy.broadcast_to(array[..., :1, :1], array.shape)
    return array


LAYOUTS = ["dense", "fortran", "negative", "gaps", "swapped", "unaligned", "read_only"]
layouts = st.sampled_from(LAYOUTS)


@given(st.sampled_from(COMBINATIONS), sizes, sizes, sizes, layouts, layouts, st.sampled_from([0, 1, 2]),
       st.integers(0, 9))
def test_matrices(types, m, n, k, a_layout, b_layout, dimensions, seed):
    rng = numpy.random.default_rng(seed)
    a_type, b_type, c_type = types
    a = lay_out(random(rng, (m, k), a_type), a_layout, rng)
    b = lay_out(random(rng, (k, n), b_type), b_layout, rng)
    result, info = tesela.matmul(a, b, dtype=c_type, full_output=True)
    check(result, a, b, c_type)
    if result.size and k:
        check(result, a, b, c_type, bound=info.error_bound)
        assert info.plan.startswith("gemm ") and info.seconds > 0


#: Forms of a call, each as a function of a, b and the type of the result. Each returns a @ b.
FORMS = {
    "plain": lambda a, b, kind: tesela.matmul(a, b),
    "out": lambda a, b, kind: tesela.matmul(a, b, out=numpy.empty((a @ b).shape, kind)),
    "out_by_place": lambda a, b, kind: tesela.matmul(a, b, numpy.empty((a @ b).shape, kind).T.copy().T),
    "alpha": lambda a, b, kind: tesela.matmul(a, b, alpha=2) / 2,
    "beta": lambda a, b, kind: tesela.matmul(a, b, out=numpy.zeros((a @ b).shape, kind), beta=0.5),
    "dtype": lambda a, b, kind: tesela.matmul(a, b, dtype=kind),
    "device": lambda a, b, kind: tesela.matmul(a, b, device="cpu"),
    "strategy": lambda a, b, kind: tesela.matmul(a, b, strategy="sequential", device="cpu"),
    "full_output": lambda a, b, kind: tesela.matmul(a, b, full_output=True)[0],
    "measured": lambda a, b, kind: tesela.matmul(a, b, measure_error=True),
    "bias": lambda a, b, kind: tesela.matmul(a, b, bias=numpy.zeros(b.shape[-1], kind)),
    "column": lambda a, b, kind: tesela.matmul(a, b, bias=numpy.zeros((a.shape[-2], 1), kind)),
    "batch": lambda a, b, kind: tesela.matmul(numpy.broadcast_to(a, (2, *a.shape)), b)[1],
    "gemm": lambda a, b, kind: tesela.gemm(a, b),
    "gemm_turned": lambda a, b, kind: tesela.gemm(a.T, b.T, trans_a="t", trans_b="T"),
    "gemm_c": lambda a, b, kind: tesela.gemm(a, b, numpy.zeros((a @ b).shape, kind)),
    "Plan": lambda a, b, kind: tesela.Plan(a, b)(a, b),
    "Plan_out": lambda a, b, kind: tesela.Plan(a, b)(a, b, numpy.empty((a @ b).shape, kind)),
    "grouped": lambda a, b, kind: tesela.matmul_grouped([a], [b])[0],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["float64", "float32"])
def test_layouts_in_each_form_of_the_call(form, name):
    rng = numpy.random.default_rng(7)
    call = FORMS[form]
    for a_layout in [*LAYOUTS, "one_row", "one_column", "one_element"]:
        for b_layout in [*LAYOUTS, "one_row", "one_column", "one_element"]:
            for m, k, n in ((5, 7, 6), (1, 7, 6), (5, 1, 6), (5, 7, 1), (1, 1, 1), (0, 7, 6), (5, 0, 6)):
                a = lay_out(random(rng, (m, k), name), a_layout, rng)
                b = lay_out(random(rng, (k, n), name), b_layout, rng)
                check(call(a, b, name), a, b, name)


@pytest.mark.parametrize("name", ["complex128", "float16", "bfloat16", "int8"])
def test_layouts_of_other_types(name):
    rng = numpy.random.default_rng(8)
    for a_layout in [*LAYOUTS, "one_row", "one_column", "one_element"]:
        for b_layout in [*LAYOUTS, "one_row", "one_column", "one_element"]:
            a = lay_out(random(rng, (5, 7), name), a_layout, rng)
            b = lay_out(random(rng, (7, 6), name), b_layout, rng)
            check(tesela.matmul(a, b), a, b, "int32" if name == "int8" else name)


@pytest.mark.parametrize("device", [None, "cpu", "opencl"])
@pytest.mark.parametrize("name", ["float64", "int8"])
def test_batches_of_no_matrices(device, name):
    if device == "opencl" and not any(row.name.startswith(device) for row in tesela.devices()):
        pytest.skip("no OpenCL device")
    zeros = lambda *shape: numpy.zeros(shape, name)
    kind = "int32" if name == "int8" else name
    for a, b in ((zeros(0, 3, 4), zeros(0, 4, 5)), (zeros(0, 3, 4), zeros(4, 5)),
                 (zeros(3, 4), zeros(0, 4, 5)),
                 (zeros(1, 3, 4), zeros(0, 4, 5)), (zeros(2, 0, 3, 4), zeros(2, 1, 4, 5)),
                 (zeros(0, 3, 4), zeros(4)),
                 (zeros(4), zeros(0, 4, 5)), (zeros(0, 0, 3, 4), zeros(4, 5)),
                 (zeros(2, 0, 4), zeros(2, 4, 5)),
                 (zeros(2, 3, 0), zeros(2, 0, 5)), (zeros(0, 4), zeros(4, 5)), (zeros(3, 0), zeros(0, 5)),
                 (zeros(0), zeros(0))):
        expected = numpy.matmul(a, b).astype(kind)
        result, info = tesela.matmul(a, b, device=device, full_output=True)
        assert result.shape == expected.shape and result.dtype == kind and (result == expected).all()
        assert (info.plan == "") == (expected.size == 0)
        if expected.ndim:
            out = numpy.ones(expected.shape, kind)
            assert tesela.matmul(a, b, out=out, device=device) is out and (out == 0).all()


@given(st.sampled_from(COMBINATIONS), st.lists(st.sampled_from([1, 2, 3]), max_size=3),
       st.integers(0, 7), st.integers(0, 7), st.tuples(st.sampled_from([1, 4]), st.sampled_from([1, 5]),
                                                       st.sampled_from([0, 1, 6])),
       layouts, st.integers(0, 9))
def test_broadcasting(types, batch, a_ones, b_ones, size, layout, seed):
    rng = numpy.random.default_rng(seed)
    m, n, k = size
    a_batch = tuple(1 if a_ones >> i & 1 else dim for i, dim in enumerate(batch))
    b_batch = tuple(1 if b_ones >> i & 1 else dim for i, dim in enumerate(batch))[b_ones % 2:]
    a = lay_out(random(rng, a_batch + (m, k), types[0]), layout, rng)
    b = random(rng, b_batch + (k, n), types[1])
    check(tesela.matmul(a, b, dtype=types[2]), a, b, types[2])


@given(st.sampled_from(["float64", "complex64", "int8"]), st.integers(1, 3), st.integers(1, 3), sizes,
       st.integers(1, 2))
def test_vectors(name, a_dimensions, b_dimensions, k, step):
    rng = numpy.random.default_rng(k)
    a = random(rng, (2, 3, step * k)[3 - a_dimensions:], name)[..., ::step]
    b = random(rng, (2, k, 4)[3 - b_dimensions:] if b_dimensions > 1 else (k,), name)
    result = tesela.matmul(a, b)
    check(result, a, b, "int32" if name == "int8" else name)
    if a_dimensions == b_dimensions == 1:
        assert isinstance(result, numpy.generic)


@given(st.sampled_from(["float64", "float32"]), st.sampled_from(["rows", "cols", "both", "batch"]),
       st.booleans())
def test_broadcast_strides(name, which, turned):
    rng = numpy.random.default_rng(3)
    source = {"rows": (1, 6), "cols": (4, 1), "both": (1, 1), "batch": (4, 6)}[which]
    a = numpy.broadcast_to(random(rng, source, name), (3, 4, 6) if which == "batch" else (4, 6))
    b = random(rng, (6, 5), name)
    if turned:
        a, b = b.T, numpy.swapaxes(a, -1, -2)
    check(tesela.matmul(a, b), a, b, name)


@given(st.sampled_from(["float64", "float32", "float16", "complex128"]), st.sampled_from([0, 1, -2.5]),
       st.sampled_from([0, 1, 3]),
       layouts.filter(lambda layout: layout not in ("read_only", "swapped", "unaligned")), st.booleans())
def test_out(name, alpha, beta, layout, batched):
    rng = numpy.random.default_rng(5)
    shape = (2,) if batched else ()
    a, b = random(rng, shape + (7, 5), name), random(rng, (5, 9), name)
    out = lay_out(random(rng, shape + (7, 9), name), layout, rng)
    before = out.copy()
    assert tesela.matmul(a, b, out=out, alpha=alpha, beta=beta) is out
    check(out, a, b, name, alpha, beta, before)


def test_out_writes_nothing_between():
    a, b = numpy.ones((3, 4)), numpy.ones((4, 5))
    memory = numpy.full((6, 10), 7.0)
    tesela.matmul(a, b, out=memory[::2, ::2])
    assert (memory[::2, ::2] == 4).all()
    memory[::2, ::2] = 7
    assert (memory == 7).all()


def test_nan_in_out_is_not_read():
    out = numpy.full((3, 5), numpy.nan)
    tesela.matmul(numpy.ones((3, 4)), numpy.ones((4, 5)), out)
    assert (out == 4).all()


def test_complex_scalars():
    rng = numpy.random.default_rng(2)
    a, b = random(rng, (3, 4), "complex128"), random(rng, (4, 2), "complex128")
    check(tesela.matmul(a, b, alpha=1j), a, b, "complex128", 1j)


@pytest.mark.parametrize("trans_a", "ntc")
@pytest.mark.parametrize("trans_b", "ntc")
@pytest.mark.parametrize("name", ["float64", "complex64"])
def test_gemm(trans_a, trans_b, name):
    rng = numpy.random.default_rng(8)
    how = {"n": lambda x: x, "t": lambda x: x.T, "c": lambda x: x.conj().T}
    a, b, c = random(rng, (4, 4), name), random(rng, (4, 4), name), random(rng, (4, 4), name)
    kept = c.copy()
    check(tesela.gemm(a, b, c, alpha=2, beta=3, trans_a=trans_a, trans_b=trans_b), how[trans_a](a),
          how[trans_b](b), name, 2, 3, c)
    assert (c == kept).all()
    assert tesela.gemm(a, b, c, out=c, trans_a=trans_a, trans_b=trans_b) is c
    check(c, how[trans_a](a), how[trans_b](b), name, 1, 1, kept)


def test_gemm_refuses():
    a = numpy.ones((3, 4))
    with pytest.raises(ValueError, match="do not match"):
        tesela.gemm(a, a)
    with pytest.raises(ValueError, match='use "n"'):
        tesela.gemm(a, a, trans_b="x")
    with pytest.raises(ValueError, match="c is not given"):
        tesela.gemm(a, a.T, beta=1)
    with pytest.raises(ValueError, match="shape"):
        tesela.gemm(a, a.T, numpy.ones((2, 2)))


def overlapping():
    memory = numpy.ones(200)
    square = memory[:100].reshape(10, 10)
    yield square, square, square
    yield square, numpy.ones((10, 10)), square.T
    yield numpy.ones((10, 10)), square, memory[50:150].reshape(10, 10)
    yield square[:, :5], numpy.ones((5, 5)), square[:, 4:9]


@pytest.mark.parametrize("a, b, out", overlapping())
def test_overlapping_out_is_refused(a, b, out):
    before = out.copy()
    with pytest.raises(ValueError, match="share memory"):
        tesela.matmul(a, b, out=out)
    assert (out == before).all()


def test_columns_between_those_of_an_input_are_no_overlap():
    memory = numpy.ones((4, 8))
    tesela.matmul(memory[:, ::2], numpy.eye(4), out=memory[:, 1::2])
    assert (memory == 1).all()


def test_out_is_refused():
    a = numpy.ones((3, 3))
    locked = numpy.empty((3, 3))
    locked.flags.writeable = False
    unaligned = numpy.frombuffer(bytearray(73), numpy.float64, 9, offset=1).reshape(3, 3)
    for out, sentence in ((locked, "read-only"), (numpy.empty((3, 4)), "shape"), (numpy.empty(3), "shape"),
                          (numpy.broadcast_to(numpy.zeros(3), (3, 3)), "read-only|each other"),
                          (unaligned, "aligned"),
                          (numpy.lib.stride_tricks.as_strided(numpy.zeros(9), (3, 3), (8, 8)), "overlap")):
        with pytest.raises(ValueError, match=sentence):
            tesela.matmul(a, a + 1, out=out)
    for shape, strides in (((2, 3, 3), (8, 24, 8)), ((2, 3, 3), (0, 24, 8)), ((3, 3), (16, 8)),
                           ((3, 3), (-8, 8))):
        with pytest.raises(ValueError, match="elements of out overlap"):
            tesela.matmul(numpy.ones(shape), a,
                          out=numpy.lib.stride_tricks.as_strided(numpy.zeros(40)[20:], shape, strides))
    with pytest.raises(TypeError, match="float64, not float32"):
        tesela.matmul(a, a, out=numpy.empty((3, 3), numpy.float32))
    with pytest.raises(ValueError, match="out is not given"):
        tesela.matmul(a, a, beta=1)


@pytest.mark.parametrize("first, second", [("longdouble", "longdouble"), ("longdouble", "float32"),
                                           ("object", "float64"),
                                           ("U1", "U1"), ("M8[s]", "float64"), ("V4", "V4")])
def test_other_types_are_refused(first, second):
    a, b = (numpy.zeros((2, 2), TYPES.get(name, name)) for name in (first, second))
    with pytest.raises(TypeError, match="possible are float64"):
        tesela.matmul(a, b)


CONVERTED = ["bool", "int8", "uint8", "int16", "uint16", "int32", "int64", "uint64", "float16", "float32",
             "float64", "complex64", "complex128"]


@pytest.mark.parametrize("first", CONVERTED)
@pytest.mark.parametrize("second", CONVERTED)
def test_types_are_promoted_as_numpys(first, second):
    """To NumPy's type; pairs of 8-bit integers and bool to int32, other integers to float64."""
    rng = numpy.random.default_rng(1)
    a, b = (rng.integers(0, 2, shape).astype(name) for shape, name in (((3, 4), first), ((4, 5), second)))
    common = numpy.result_type(a, b)
    kind = common.name
    if common.kind in "biu":
        kind = "int32" if {first, second} <= {"bool", "int8", "uint8"} else "float64"
    for result in (tesela.matmul(a, b), tesela.matmul(a[None], b)[0], tesela.gemm(a, b),
                   tesela.Plan(a, b)(a, b),
                   tesela.matmul_grouped([a], [b])[0], tesela.matmul(a, b, out=numpy.empty((3, 5), kind))):
        assert result.dtype == kind
        assert (result == numpy.matmul(a.astype(kind), b.astype(kind))).all()
    if not kind.startswith("complex"):
        assert tesela.dot(a[0], b[:, 0]) == numpy.dot(a[0].astype(kind), b[:, 0].astype(kind))
    if common.kind in "biu":
        assert tesela.matmul(a, b, dtype="float32").dtype == "float32"


def test_conversions_are_logged(caplog):
    a = numpy.arange(6).reshape(2, 3)
    with caplog.at_level("INFO", "tesela"):
        tesela.matmul(a, numpy.ones((3, 2), "float32"))
        tesela.matmul(a > 2, (a > 2).T)
    assert [record.getMessage() for record in caplog.records] == [
        "tesela converts a: int64 becomes float64", "tesela converts b: float32 becomes float64"]


def test_wrong_calls():
    a = numpy.ones((3, 4))
    with pytest.raises(ValueError, match="4 columns do not match 3 rows"):
        tesela.matmul(a, a)
    with pytest.raises(ValueError, match="do not broadcast"):
        tesela.matmul(numpy.ones((2, 3, 4)), numpy.ones((3, 4, 5)))
    with pytest.raises(ValueError, match="scalar"):
        tesela.matmul(a, 2.0)
    with pytest.raises(ValueError, match="strategy"):
        tesela.matmul(a, a.T, strategy="no_such_strategy")
    with pytest.raises((ValueError, tesela.Error), match="quantum"):
        tesela.matmul(a, a.T, device="quantum")
    with pytest.raises(TypeError, match="complex"):
        tesela.matmul(a, a.T, alpha=1j)
    with pytest.raises(ValueError, match="whole number"):
        tesela.matmul(a.astype("int8"), a.T.astype("int8"), alpha=0.5)
    with pytest.raises(ValueError, match="stream"):
        tesela.matmul(a, a.T, stream=1)
    with pytest.raises(TypeError):
        tesela.matmul(a)
    with pytest.raises(TypeError):
        tesela.matmul(a, a.T, colour="red")


def test_errors_have_a_status():
    with pytest.raises(tesela.Error) as caught:
        tesela.matmul(numpy.ones((3, 4)), numpy.ones((4, 5)), strategy="tile_local", device="cpu")
    assert caught.value.status == "UNSUPPORTED" and "tile_local" in str(caught.value)


@pytest.mark.parametrize("device", ["cpu", "opencl"])
def test_devices(device):
    if not any(row.name.startswith(device) for row in tesela.devices()):
        pytest.skip(f"no device of the kind {device}")
    rng = numpy.random.default_rng(4)
    a, b = random(rng, (40, 30), "float32"), random(rng, (30, 50), "float32")
    result, info = tesela.matmul(a, b, device=device, full_output=True)
    check(result, a, b, "float32", bound=info.error_bound)
    assert f"device={device}" in info.plan
    batch = random(rng, (3, 2, 40, 30), "float32")
    check(tesela.matmul(batch, b, device=device), batch, b, "float32")
    check(tesela.matmul(batch[:, ::-1], batch[:, :, :30, :], device=device), batch[:, ::-1],
          batch[:, :, :30, :], "float32")


def test_strategy():
    a = numpy.ones((9, 9), numpy.float32)
    assert tesela.matmul(a, a, strategy="sequential", full_output=True)[1].plan.startswith("gemm sequential ")


def test_whatever_numpy_takes():
    assert tesela.matmul([[1.0, 2.0]], [[3.0], [4.0]]).tolist() == [[11.0]]
    matrix = numpy.matrix([[1.0, 2.0], [3.0, 4.0]])
    assert tesela.matmul(matrix, matrix).tolist() == [[7.0, 10.0], [15.0, 22.0]]
    assert tesela.matmul(memoryview(numpy.eye(2)), numpy.eye(2)).tolist() == numpy.eye(2).tolist()


def test_copies_are_logged(caplog):
    with caplog.at_level("INFO", "tesela"):
        tesela.matmul(numpy.ones((3, 3)), numpy.ones((3, 3)))
        tesela.matmul(numpy.ones((3, 3)).T, numpy.ones((6, 6))[::2, ::2])
        assert not caplog.records
        tesela.matmul(numpy.ones((3, 3), ">f8"), numpy.broadcast_to(1.0, (3, 3)))
    assert [record.getMessage().split(":")[0]
            for record in caplog.records] == ["tesela copies a", "tesela copies b"]


def test_long_products_in_pieces_have_the_bits_of_the_whole(short_pieces):
    from tesela import _core
    rng = numpy.random.default_rng(6)
    a, b = random(rng, (333, 200), "float32"), random(rng, (200, 150), "float32")
    pieces, told = tesela.matmul(a, b, device="cpu", measure_error=True, full_output=True)
    _core.set_pieces(1 << 62, 1)
    whole, info = tesela.matmul(a, b, device="cpu", measure_error=True, full_output=True)
    assert (pieces == whole).all() and told.plan == info.plan
    # All rows of a small product are measured, and a sample of a large one: so there were several products.
    assert told.measured_rows == 333 > info.measured_rows
