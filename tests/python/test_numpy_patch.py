"""tesela.numpy.patch: NumPy's rules hold, and products go to tesela."""

import contextlib
import os
import threading
import warnings

import numpy
import pytest
import tesela
import tesela.numpy as patched

TYPES = ["float64", "float32", "float16", "complex128", "int8", "int64", "bool", "longdouble", "object",
         ">f8"]


class Sub(numpy.ndarray):
    """Subclass that keeps its type."""


class Refuses:
    __array_ufunc__ = None

    def __rmatmul__(self, other):
        return "refused"


class Overrides:
    def __array_function__(self, func, types, args, kwargs):
        return func.__name__

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__


def make(kind, *shape):
    rng = numpy.random.default_rng(len(shape) + 10 * sum(shape))
    numbers = rng.integers(-100, 100, shape) // (8 if kind == "float16" else 1)
    if kind == "bool":
        return numbers > 0
    if kind.startswith("complex"):
        return (numbers + 1j * numbers[::-1] if shape else numbers).astype(kind)
    return numbers.astype(kind)


def with_out(function, *arrays, out, **keywords):
    result = function(*arrays, out=out, **keywords)
    assert result is out
    return out


def overlapping(function):
    a = make("float64", 30, 30)
    return function(a, a.T, out=a)


def partly_overlapping():
    base = make("float64", 80, 40)
    return numpy.matmul(base[:40], base[20:60], out=base[10:50])


#: Calls whose results and errors must be NumPy's.
CALLS = {
    "@": lambda a, b: a @ b,
    "matmul": lambda a, b: numpy.matmul(a, b),
    "dot": lambda a, b: numpy.dot(a, b),
    "inner": lambda a, b: numpy.inner(a, numpy.swapaxes(b, -1, -2) if numpy.ndim(b) > 1 else b),
    "vdot": lambda a, b: numpy.vdot(a, numpy.ravel(b)[:numpy.size(a)]),
    "tensordot": lambda a, b: numpy.tensordot(a, b, 1),
    "einsum": lambda a, b: numpy.einsum("...ij,...jk->...ki", a, b),
    "einsum path": lambda a, b: numpy.einsum("...ij,...jk->...ik", a, b, optimize=True),
    "multi_dot": lambda a, b: numpy.linalg.multi_dot([a, b, numpy.swapaxes(b, -1, -2)]),
    "ndarray.dot": lambda a, b: a.dot(b),
}
SHAPES = [((20, 30), (30, 10)), ((30,), (30, 10)), ((20, 30), (30,)), ((30,), (30,)), ((), (3, 4)),
          ((3, 4), ()), ((4, 20, 30), (30, 10)), ((4, 20, 30), (4, 30, 10)), ((2, 1, 5, 6), (3, 6, 7)),
          ((0, 3), (3, 4)),
          ((3, 0), (0, 4)), ((3, 4), (4, 0)), ((20, 30), (20, 30)), ((1, 1), (1, 1)), ((5, 6), (2, 3, 6, 4)),
          ((0, 3, 4), (0, 4, 5))]
#: Other calls with rules of NumPy.
RULES = {
    "out": lambda: with_out(numpy.matmul, make("float64", 20, 30), make("float64", 30, 10),
                            out=numpy.empty((20, 10))),
    "out with gaps": lambda: with_out(numpy.matmul, make("float64", 20, 30), make("float64", 30, 10),
                                      out=numpy.zeros((20, 20))[:, ::2]),
    "out in columns": lambda: with_out(numpy.matmul, make("float32", 20, 30), make("float32", 30, 10),
                                       out=numpy.empty((20, 10), "float32", order="F")),
    "out of a wider type": lambda: with_out(numpy.matmul, make("float32", 20, 30), make("float32", 30, 10),
                                            out=numpy.empty((20, 10))),
    "out of a narrower type": lambda: numpy.matmul(make("float64", 20, 30), make("float64", 30, 10),
                                                   out=numpy.empty((20, 10), "float32")),
    "out that must not be cast": lambda: numpy.matmul(make("float64", 20, 30), make("float64", 30, 10),
                                                      out=numpy.empty((20, 10), "int32")),
    "out of another shape": lambda: numpy.matmul(make("float64", 20, 30), make("float64", 30, 10),
                                                 out=numpy.empty((20, 11))),
    "read-only out": lambda: numpy.matmul(make("float64", 20, 30), make("float64", 30, 10),
                                          out=numpy.broadcast_to(0.0, (20, 10))),
    "dot's out": lambda: with_out(numpy.dot, make("float64", 20, 30), make("float64", 30, 10),
                                  out=numpy.empty((20, 10))),
    "dot's out in columns": lambda: numpy.dot(make("float64", 20, 30), make("float64", 30, 10),
                                              out=numpy.empty((20, 10), order="F")),
    "dot's out of another type": lambda: numpy.dot(make("float64", 20, 30), make("float64", 30, 10),
                                                   out=numpy.empty((20, 10), "float32")),
    "overlapping out": lambda: overlapping(numpy.matmul),
    "dot's overlapping out": lambda: overlapping(numpy.dot),
    "partly overlapping out": partly_overlapping,
    "dtype": lambda: numpy.matmul(make("int8", 20, 30), make("int8", 30, 10), dtype="float64"),
    "casting": lambda: numpy.matmul(make("float64", 20, 30), make("float64", 30, 10), dtype="float32",
                                    casting="same_kind"),
    "unsafe casting": lambda: numpy.matmul(make("float64", 20, 30), make("float64", 30, 10), dtype="float32",
                                           casting="safe"),
    "where": lambda: numpy.matmul(make("float64", 20, 30), make("float64", 30, 10), where=True),
    "axes": lambda: numpy.matmul(make("float64", 30, 20), make("float64", 30, 10),
                                 axes=[(1, 0), (0, 1), (1, 0)]),
    "order": lambda: numpy.matmul(make("float64", 20, 30), make("float64", 30, 10), order="F"),
    "subok": lambda: numpy.matmul(make("float64", 20, 30).view(Sub), make("float64", 30, 10), subok=False),
    "mixed types": lambda: make("float32", 20, 30) @ make("int64", 30, 10),
    "half and single": lambda: make("float16", 20, 30) @ make("float32", 30, 10),
    "wraparound": lambda: make("int8", 20, 30) @ make("int8", 30, 10),
    "lists": lambda: numpy.matmul([[1.0, 2.0]], [[3.0], [4.0]]),
    "subclass": lambda: make("float64", 20, 30).view(Sub) @ make("float64", 30, 10),
    "dot of a subclass": lambda: numpy.dot(make("float64", 20, 30).view(Sub), make("float64", 30, 10)),
    "matrix": lambda: numpy.asmatrix(make("float64", 20, 30)) * numpy.asmatrix(make("float64", 30, 10)),
    "masked": lambda: numpy.ma.dot(numpy.ma.masked_less(make("float64", 20, 30), 0), make("float64", 30, 10)),
    "masked dot": lambda: numpy.dot(numpy.ma.masked_less(make("float64", 20, 30), 0),
                                    make("float64", 30, 10)),
    "refused": lambda: make("float64", 3, 3) @ Refuses(),
    "overriding ufunc": lambda: numpy.matmul(make("float64", 3, 3), Overrides()),
    "overriding functions": lambda: [numpy.dot(Overrides(), 1), numpy.inner(1, Overrides()),
                                     numpy.tensordot(Overrides(), 1), numpy.einsum("i,i", Overrides(), 1)],
    "reduced": lambda: numpy.matmul.reduce(make("float64", 3, 3)),
    "in place": lambda: in_place(make("float64", 9, 9), make("float64", 9, 9)),
    "equal elements": lambda: numpy.broadcast_to(2.0, (20, 30)) @ make("float64", 30, 10),
    "unaligned": lambda: unaligned(20, 30) @ make("float64", 30, 10),
    "own transpose": lambda: make("float64", 40, 40) @ make("float64", 40, 40).T,
    "einsum view": lambda: is_view(make("float64", 4, 4)),
    "einsum dtype": lambda: numpy.einsum("ij,jk", make("float32", 40, 40), make("float32", 40, 40),
                                         dtype="float64"),
    "einsum out": lambda: with_out(lambda *a, **k: numpy.einsum("ij,jk", *a, **k), make("float64", 40, 40),
                                   make("float64", 40, 40), out=numpy.empty((40, 40))),
    "einsum scalar": lambda: numpy.einsum("ij,ij", make("float64", 40, 40), make("float64", 40, 40)),
    "einsum scalar by a path": lambda: numpy.einsum("ij,ij", make("float64", 40, 40),
                                                    make("float64", 40, 40), optimize=True),
    "einsum lists": lambda: numpy.einsum(make("float64", 40, 40), [0, 1], make("float64", 40, 40), [1, 2],
                                         [2, 0]),
    "einsum of three": lambda: numpy.einsum("ij,jk,kl", *[make("float64", 40, 40)] * 3, optimize="greedy"),
    "einsum with a path": lambda: numpy.einsum("ij,jk,kl", *[make("float64", 20, 20)] * 3,
                                               optimize=["einsum_path", (0, 1), (0, 1)]),
    "wrong einsum": lambda: numpy.einsum("ij,kk->ij", make("float64", 3, 4), make("float64", 3, 4)),
    "unknown keyword": lambda: numpy.einsum("ij,jk", make("float64", 3, 3), make("float64", 3, 3),
                                            nonsense=1),
    "too few arguments": lambda: numpy.dot(make("float64", 3, 3)),
}


def in_place(a, b):
    a @= b
    return a


def unaligned(*shape):
    raw = numpy.zeros(8 * shape[0] * shape[1] + 1, "uint8")[1:].view("float64").reshape(shape)
    raw[...] = make("float64", *shape)
    return raw


def is_view(a):
    numpy.einsum("ii->i", a)[:] = 0
    return a


def outcome(call):
    """Returns the result of a call, or its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except Exception as error:  # NumPy's errors of all kinds are compared
            return type(error), str(error)


def is_same(one, other):
    """Returns True if two outcomes are equal but for rounding."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (tuple, str)):
        return one == other
    if isinstance(one, list):
        return all(map(is_same, one, other))
    if getattr(one, "dtype", None) != getattr(other, "dtype", None) or numpy.shape(one) != numpy.shape(other):
        return False
    if isinstance(one, numpy.ma.MaskedArray) and (one.mask != other.mask).any():
        return False
    one, other = numpy.asarray(one), numpy.asarray(other)
    if one.dtype.kind in "biuO":
        return bool((one == other).all())
    tolerance = 2e-3 if one.dtype == "float16" else 1e-5
    return numpy.allclose(one, other, rtol=tolerance, atol=tolerance * 1e4, equal_nan=True)


@pytest.fixture
def calls():
    """Counts from zero; every patch must be gone afterwards."""
    patched.report(clear=True)
    yield
    assert not patched._patches and "tesela" not in repr(numpy.dot.__module__)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", CALLS)
def test_types_and_shapes(calls, name, kind):
    for left, right in SHAPES:
        def call():
            return CALLS[name](make(kind, *left), make(kind, *right))
        expected = outcome(call)
        with patched.patch(everything=True):
            assert is_same(outcome(call), expected), (left, right)


@pytest.mark.parametrize("name", RULES)
def test_rules(calls, name):
    expected = outcome(RULES[name])
    for everything in (False, True):
        with patched.patch(everything=everything):
            assert is_same(outcome(RULES[name]), expected), everything


@pytest.mark.parametrize("call", [
    lambda a, b: a @ b, numpy.matmul, lambda a, b: numpy.dot(a, b), lambda a, b: numpy.inner(a, b.T),
    lambda a, b: numpy.tensordot(a, b, 1), lambda a, b: numpy.einsum("ij,jk", a, b),
    lambda a, b: numpy.linalg.multi_dot([a, b]), lambda a, b: numpy.matmul(a, b, out=numpy.empty((50, 50)))])
def test_tesela_computes(calls, call):
    a, b = make("float64", 50, 60), make("float64", 60, 50)
    with patched.patch():
        call(a, b)
    call(a, b)
    counts = patched.report()
    assert counts.tesela == 1 and counts.numpy == 0 and "tesela 1" in str(counts)


def test_reasons(calls):
    a = make("float64", 50, 50)
    with patched.patch():
        a @ a[0]
        a @ a.T
        a[:2] @ a
        a[:5, :5] @ a[:5, :5]
        a.astype(int) @ a.astype(int)
        numpy.zeros((0, 50)) @ a
        numpy.dot(a, a[0])
        numpy.dot(a.view(Sub), a)
        numpy.einsum("ij,ij->ij", a, a)
        numpy.einsum("ij->i", a)
        numpy.vdot(a, a)
    counts = patched.report(clear=True)
    assert counts.tesela == 0 and counts.numpy == 11 and set(counts.reasons.values()) == {1}
    assert counts.reasons["matmul", "a vector"] == 1 and "own transpose" in str(counts)
    assert patched.report().numpy == 0


def test_everything_takes_vectors(calls):
    a = make("float64", 50, 50)
    with patched.patch(everything=True):
        a @ a[0], a @ a.T, numpy.dot(a[0], a[0]), numpy.vdot(a, a), numpy.inner(a, a[0]), a[:1] @ a
    assert patched.report().tesela == 6


def test_numbers_and_words_of_numpy(calls):
    """A result without dimensions is a number, also with `out`, and wrong words are NumPy's errors."""
    x, out = numpy.arange(5.0), numpy.empty(())
    with patched.patch(everything=True):
        result = numpy.dot(x, x, out=out)
        with pytest.raises(KeyError):
            numpy.einsum("ij,jk,kl", *[numpy.ones((9, 9))] * 3, optimize="nonsense")
        numpy.einsum("ij,jk,kl", *[numpy.ones((9, 9))] * 3, optimize="greedy")
    assert type(result) is numpy.float64 and result == out == 30


def test_nested(calls):
    a = make("float32", 40, 40)
    with patched.patch() as outer:
        with patched.patch(accuracy="f64", bits="threads"):
            a @ a[0]
        assert patched.report(clear=True).tesela == 1
        a @ a[0]
        assert patched.report(clear=True).numpy == 1
        inner = patched.patch(everything=True)
        patched.unpatch(outer)
        a @ a[0]
        patched.unpatch(inner)
    a @ a
    assert patched.report().tesela == 1
    with pytest.raises(RuntimeError, match="no patch"):
        patched.unpatch()


def test_guarantees(calls):
    rng = numpy.random.default_rng(1)
    a, b = (rng.standard_normal((60, 300)) * 10.0**rng.integers(-6, 6, (60, 300)) for _ in range(2))
    with patched.patch(accuracy=1e-15, bits="threads"):
        result = a @ b.T
    wide = a.astype("longdouble") @ b.T.astype("longdouble")
    bound = abs(a) @ abs(b.T)
    assert (abs(result - wide) <= 1e-15 * bound).all() and patched.report().tesela == 1


def test_refusal_warns(calls):
    a = make("float32", 40, 40)
    with patched.patch(accuracy=1e-12), pytest.warns(RuntimeWarning, match="without the guarantee"):
        result = a @ a
    assert is_same(result, a @ a)
    counts = patched.report()
    assert counts.reasons == {("matmul", "refused by tesela"): 1} and counts.refusal in str(counts)


@pytest.mark.parametrize("name, call", [
    ("einsum", lambda a: numpy.einsum("ij,jk", a, a, out=a.copy())),
    ("einsum", lambda a: numpy.einsum("ij,jk", a, a, dtype="complex128")),
    ("einsum", lambda a: numpy.einsum("ij,jk", a, a, optimize=["einsum_path", (0, 1)])),
    ("dot", lambda a: numpy.dot(a.view(Sub), a)),
    ("dot", lambda a: numpy.dot(a, a, out=numpy.empty(a.shape, order="F"))),
    ("matmul", lambda a: numpy.zeros((50, 50), [("x", "complex128"), ("y", "float64")])["x"] @ (a + 0j)),
    ("matmul", lambda a: numpy.broadcast_to(1.0, (50, 50)) @ a)])
def test_products_without_the_guarantee_warn(calls, name, call):
    with patched.patch(bits="threads"), pytest.warns(RuntimeWarning, match=f"computes {name} without the"):
        with contextlib.suppress(ValueError):  # of NumPy
            call(make("float64", 50, 50))


@pytest.mark.parametrize("words, error", [
    ({"device": "nonsense"}, ValueError), ({"accuracy": "nonsense"}, ValueError), ({"bits": "x"}, ValueError),
    ({"accuracy": 1e-30}, tesela.Error), ({"device": "opencl:77"}, tesela.NoDevice)])
def test_wrong_words(calls, words, error):
    with pytest.raises(error):
        patched.patch(**words)


def test_special_values_warn_as_in_numpy(calls):
    a = numpy.full((40, 40), 1e300)
    a[0, 0] = numpy.inf
    b = a.copy()
    b[0, 0] = 0
    with patched.patch(), numpy.errstate(all="raise"):
        with pytest.raises(FloatingPointError):
            a @ b
        a[0, 0], a[1, 1] = 1, numpy.nan
        assert numpy.isnan((a * 1e-300 @ (b * 1e-300))[1]).all()


def test_threads(calls):
    """Threads patch, multiply and unpatch; products are right throughout."""
    rng = numpy.random.default_rng(2)
    a = rng.standard_normal((64, 64))
    expected, wrong = a @ a, []

    def work(number):
        for i in range(40):
            with patched.patch(everything=bool((number + i) % 2)):
                for result in (a @ a, numpy.dot(a, a), numpy.einsum("ij,jk", a, a)):
                    if not numpy.allclose(result, expected):
                        wrong.append((number, i))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_fork(calls):
    """The child of a fork multiplies on, with threads of its own."""
    a = numpy.ones((200, 200))
    with patched.patch():
        assert (a @ a == 200).all()
        child = os.fork()
        if child == 0:
            os._exit(0 if (a @ a == 200).all() and patched.report().tesela == 2 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
