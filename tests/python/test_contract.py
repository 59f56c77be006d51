"""einsum, tensordot, inner, vecdot, outer and multi_dot against NumPy's, over random expressions."""

import itertools
import string

import numpy
import pytest
import tesela
from tesela import _contract

import reference

ROUND = {"float64": 1e-12, "float32": 1e-4, "complex128": 1e-12, "complex64": 1e-4, "float16": 2e-2}


def near(result, expected, kind="float64"):
    result, expected = numpy.asarray(result), numpy.asarray(expected)
    assert result.shape == expected.shape and result.dtype == expected.dtype
    scale = max(1.0, float(abs(expected).max())) if expected.size else 1.0
    return bool((abs(result - expected) <= ROUND[kind] * scale).all())


def numbers(rng, shape, kind):
    made = rng.standard_normal(shape)
    if kind.startswith("complex"):
        made = made + 1j * rng.standard_normal(shape)
    return made.astype(kind)


def strided(rng, array):
    """Returns the same array with other strides: reversed, with gaps, or in another order of axes."""
    choice = rng.integers(4)
    if choice == 0 or array.ndim == 0:
        return array
    if choice == 1:
        return numpy.repeat(array, 2, axis=-1)[..., ::2]
    if choice == 2:
        return numpy.ascontiguousarray(array[..., ::-1])[..., ::-1]
    order = rng.permutation(array.ndim)
    return numpy.ascontiguousarray(array.transpose(order)).transpose(numpy.argsort(order))


def random_expression(rng):
    """Returns random subscripts with shapes: repeated letters, sums, ellipses, axes of size 1, no output."""
    letters = string.ascii_letters[:rng.integers(1, 7)]
    sizes = {letter: int(rng.choice([0, 1, 2, 3, 4, 5], p=[.02, .1, .2, .28, .2, .2])) for letter in letters}
    dots = [int(size) for size in rng.integers(1, 4, rng.integers(0, 3))]
    has_dots = rng.random() < .3
    terms, shapes = [], []
    for _ in range(rng.integers(1, 5)):
        term = [str(letter) for letter in rng.choice(list(letters), rng.integers(0 if has_dots else 1, 5))]
        shape = [sizes[letter] for letter in term]
        for i, letter in enumerate(term):
            if term.count(letter) == 1 and rng.random() < .08:
                shape[i] = 1
        if has_dots and rng.random() < .8:
            at = int(rng.integers(0, len(term) + 1))
            own = [1 if rng.random() < .2 else size for size in dots[rng.integers(0, len(dots) + 1):]]
            term.insert(at, "...")
            shape[at:at] = own
        terms.append("".join(term))
        shapes.append(tuple(shape))
    text = ",".join(terms)
    if rng.random() < .8:
        used = sorted({letter for letter in text if letter.isalpha()})
        output = list(rng.permutation(used)[:rng.integers(0, len(used) + 1)]) if used else []
        if "..." in text:
            output.insert(int(rng.integers(0, len(output) + 1)), "...")
        text += "->" + "".join(output)
    return text, shapes


@pytest.mark.parametrize("seed", range(8))
def test_random_expressions(seed):
    rng = numpy.random.default_rng(seed)
    checked = 0
    while checked < 60:
        text, shapes = random_expression(rng)
        kind = str(rng.choice(["float64", "float32", "complex128"]))
        arrays = [strided(rng, numbers(rng, shape, kind)) for shape in shapes]
        try:
            expected = numpy.einsum(text, *arrays)
        except ValueError:
            with pytest.raises(ValueError):
                tesela.einsum(text, *arrays)
            continue
        for optimize in (True, False):
            assert near(tesela.einsum(text, *arrays, optimize=optimize), expected, kind), (text, shapes, kind)
        checked += 1


@pytest.mark.parametrize("least, is_copied", [(1, False), (1 << 60, True)])
def test_slices_and_copies(monkeypatch, least, is_copied):
    """Axes that cannot be merged become slices if these are large, or else are copied."""
    monkeypatch.setattr(_contract, "SLICE_WORK", {True: least})
    rng = numpy.random.default_rng(3)
    a = numbers(rng, (3, 5, 6, 7), "float64")
    for text, is_sliced in (("iakx,bacy->iycbkx", True), ("aijk,bic->ajkbc", True), ("aijk,bick->abj", False),
                            ("aijk,ciba->kjcb", False), ("ijka,mjna->ikmn", False)):
        left, right = text.partition("->")[0].split(",")
        sizes = dict(zip(left, a.shape))
        b = numbers(rng, [sizes.get(letter, 2) for letter in right], "float64")
        copied = []

        def matmul(x, y):
            copied.append(not numpy.shares_memory(x, a) and not numpy.shares_memory(x, b))
            copied.append(not numpy.shares_memory(y, a) and not numpy.shares_memory(y, b))
            return tesela.matmul(x, y)

        assert near(_contract.einsum_of((text, a, b), True, matmul, {}), numpy.einsum(text, a, b)), text
        assert any(copied) == (is_copied or not is_sliced), (text, copied)


def test_without_copies(monkeypatch):
    """Attention's products read their operands in place."""
    seen = []
    rng = numpy.random.default_rng(5)
    q, k = numbers(rng, (2, 10, 3, 8), "float32"), numbers(rng, (2, 12, 3, 8), "float32")

    def matmul(a, b):
        seen.extend((numpy.shares_memory(a, q), numpy.shares_memory(b, k)))
        return tesela.matmul(a, b)

    result = _contract.einsum_of(("bqhd,bkhd->bhqk", q, k), True, matmul, {})
    assert seen == [True, True] and near(result, numpy.einsum("bqhd,bkhd->bhqk", q, k), "float32")


def test_many_operands_in_a_good_order(monkeypatch):
    """A chain with a vector at its end is multiplied from that end."""
    sizes = []
    a = [numpy.ones((30, 30)) for _ in range(7)] + [numpy.ones(30)]
    text = ",".join(x + y for x, y in itertools.pairwise("abcdefgh")) + ",h->a"

    def matmul(x, y):
        sizes.append(x.shape[-2] * y.shape[-1])
        return tesela.matmul(x, y)

    result = _contract.einsum_of((text, *a), True, matmul, {})
    assert max(sizes) == 30 and near(result, numpy.full(30, 30.0**7))


def test_lists_of_subscripts():
    a, b = numpy.arange(12.0).reshape(3, 4), numpy.arange(8.0).reshape(4, 2)
    assert near(tesela.einsum(a, [0, 1], b, [1, 2]), a @ b)
    assert near(tesela.einsum(a, [0, 1], b, [1, 2], [2, 0]), (a @ b).T)
    dots = (a, [Ellipsis, 1], b, [1, 2], [Ellipsis, 2])
    assert near(tesela.einsum(*dots), numpy.einsum(*dots))
    path = numpy.einsum_path("ij,jk,kl", a, b, b.T)[0]
    assert near(tesela.einsum("ij,jk,kl", a, b, b.T, optimize=path), a @ b @ b.T)


@pytest.mark.parametrize("text, message", [
    ("ij,jk", "operands"), ("i", "2 dimensions"), ("ij->k", "no operand"), ("ij->ii", "twice"),
    ("...ij->ij...k", "no operand"), ("i.j", "outside"), ("i1", "no subscript"), ("ii", "size")])
def test_wrong_expressions(text, message):
    with pytest.raises(ValueError, match=message):
        tesela.einsum(text, numpy.ones((2, 3)))


@pytest.mark.parametrize("kind", ROUND)
def test_functions(kind):
    rng = numpy.random.default_rng(7)
    a, b = numbers(rng, (3, 4, 5), kind), numbers(rng, (5, 4, 6), kind)
    for axes in (1, 0, ([2, 1], [0, 1]), (-1, 0), ([1], [1])):
        assert near(tesela.tensordot(a, b, axes), numpy.tensordot(a, b, axes), kind)
    x, y = numbers(rng, (7, 5), kind), numbers(rng, (2, 5), kind)
    assert near(tesela.inner(x, y), numpy.inner(x, y), kind)
    assert near(tesela.inner(a, x), numpy.inner(a, x), kind)
    assert near(tesela.inner(x[0], y[0]), numpy.inner(x[0], y[0]), kind)
    assert near(tesela.vecdot(a, x[0]), numpy.sum(a.conj() * x[0], axis=-1, dtype=kind), kind)
    assert near(tesela.vecdot(a, a, axis=-2), numpy.sum(a.conj() * a, axis=-2, dtype=kind), kind)
    assert near(tesela.outer(x, y), numpy.outer(x, y), kind)
    chain = [numbers(rng, shape, kind) for shape in ((10,), (10, 3), (3, 12), (12, 2))]
    assert near(tesela.linalg.multi_dot(chain), numpy.linalg.multi_dot(chain), kind)
    assert near(tesela.linalg.multi_dot(chain[1:]), numpy.linalg.multi_dot(chain[1:]), kind)


def test_types():
    a, b = numpy.full((2, 3), 100, "int8"), numpy.full((3, 2), 100, "int8")
    assert near(tesela.einsum("ij,jk", a, b).astype(float), numpy.full((2, 2), 30000.0))
    assert tesela.einsum("ij,jk", a, b).dtype == "int32"
    assert (tesela.einsum("ij,kl->", a, b) == 360000).all() and tesela.einsum("ij,ji->", a, b) == 60000
    squares = tesela.einsum("ij,ij->ij", a, a)
    assert squares.dtype == "int32" and (squares == 10000).all()
    eight = numpy.full((2, 3), 1.5, reference.TYPES["float8_e4m3fn"])
    for text, value in (("ij,kj", 6.75), ("ij,ij->ij", 2.25), ("ij,kl->", 81.0)):
        result = tesela.einsum(text, eight, eight)
        assert result.dtype == "float32" and (result == value).all()
    assert tesela.tensordot(a.astype("int64"), b, 1).dtype == "float64"
    assert tesela.einsum("ij,jk", a.astype("float32"), b.astype("float64")).dtype == "float64"
    swapped = numpy.arange(6, dtype=">f8").reshape(2, 3)
    for text in ("ij,kj->", "ij,ij->", "ij,kl->j", "ij->i"):
        both = [swapped] * (text.count(",") + 1)
        assert near(tesela.einsum(text, *both), numpy.einsum(text, *both).astype("float64"))
    with pytest.raises(TypeError, match="masked"):
        tesela.inner(numpy.ma.masked_array(a), a)
    with pytest.raises(TypeError, match="contract"):
        tesela.tensordot(numpy.array(["x"]), numpy.array(["y"]))


@pytest.mark.parametrize("call, message", [
    (lambda a: tesela.tensordot(a, a, 3), "axes is 3"),
    (lambda a: tesela.tensordot(a, a, 1), "size"),
    (lambda a: tesela.tensordot(a, a, ([0, 0], [0, 0])), "twice"),
    (lambda a: tesela.tensordot(a, a, ([5], [0])), "not an axis"),
    (lambda a: tesela.tensordot(a, a, ([0], [0, 1])), "equal length"),
    (lambda a: tesela.vecdot(a, a, axis=4), "axis 4"),
    (lambda a: tesela.linalg.multi_dot([a]), "two or more"),
    (lambda a: tesela.linalg.multi_dot([a, a]), "columns"),
    (lambda a: tesela.linalg.multi_dot([a, a[0], a]), "vectors at"),
    (lambda a: tesela.einsum("ij,jk", a, a.T, optimize=[(0,)]), "path")])
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call(numpy.ones((2, 3)))


def test_guarantees_reach_the_products():
    a, b = numpy.ones((20, 30), "float32"), numpy.ones((30, 10), "float32")
    with pytest.raises(ValueError, match="accuracy"):
        tesela.einsum("ij,jk", a, b, accuracy="nonsense")
    assert near(tesela.einsum("ij,jk", a, b, accuracy="f64", bits="threads"), a @ b, "float32")


def test_libraries():
    jax = pytest.importorskip("jax")
    a = numpy.arange(12, dtype="float32").reshape(3, 4)
    result = tesela.einsum("ij,kj->ki", jax.numpy.asarray(a), jax.numpy.asarray(a))
    assert isinstance(result, jax.Array) and near(result, a @ a.T, "float32")
    with pytest.raises(TypeError, match="jax_enable_x64"):
        tesela.einsum("ij,kj", jax.numpy.asarray(a, "int32"), jax.numpy.asarray(a, "int32"))
    with pytest.raises(TypeError, match="NumPy's and operand 1 is JAX's"):
        tesela.einsum("ij,kj", a, jax.numpy.asarray(a))
