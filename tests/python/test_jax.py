"""tesela.jax: products in compiled programs, their derivatives and batches, against JAX's own."""

import importlib.util

import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

import tesela  # noqa: E402

try:
    import tesela.jax as traced
except ImportError as error:
    pytest.skip(str(error), allow_module_level=True)

# Compiling takes most of the time of these tests.
jax.config.update("jax_disable_most_optimizations", True)
jax.config.update("jax_default_matmul_precision", "highest")

TYPES = {"bfloat16": 2e-2, "complex64": 1e-5}


def numbers(seed, *shape, kind="float32"):
    rng = numpy.random.default_rng(seed)
    made = rng.standard_normal(shape)
    return jnp.asarray(made + 1j * rng.standard_normal(shape) if kind.startswith("complex") else made, kind)


def near(result, expected, tolerance=1e-5):
    """Compares trees of arrays."""
    results, expecteds = jax.tree.leaves(result), jax.tree.leaves(expected)
    assert len(results) == len(expecteds)
    for one, other in zip(results, expecteds):
        assert one.shape == other.shape and one.dtype == other.dtype, (one.shape, other.shape, one.dtype)
        wide = "complex128" if one.dtype.kind == "c" else "float64"
        one, other = numpy.asarray(one).astype(wide), numpy.asarray(other).astype(wide)
        scale = max(1.0, abs(other).max()) if other.size else 1.0
        if not (abs(one - other) <= tolerance * 10 * scale).all():
            return False
    return True


SHAPES = [((8, 9), (9,)), ((9,), (3, 9, 7)), ((3, 8, 9), (9, 7)), ((2, 1, 8, 9), (3, 9, 7)), ((8, 0), (0, 7)),
          ((0, 8, 9), (0, 9, 7))]


@pytest.mark.parametrize("left, right", SHAPES)
def test_shapes_and_derivatives(left, right):
    a, b = numbers(1, *left), numbers(2, *right)

    def value(product):
        return lambda a, b: jnp.sin(product(a, b)).sum()

    def derivatives(f):
        return jax.jit(lambda a, b: (f(a, b), jax.grad(value(f), (0, 1))(a, b),
                                     jax.jvp(value(f), (a, b), (a, b))))

    assert near(derivatives(traced.matmul)(a, b), derivatives(jnp.matmul)(a, b))


@pytest.mark.parametrize("kind", TYPES)
def test_types(kind):
    a, b = numbers(1, 20, 30, kind=kind), numbers(2, 30, 10, kind=kind)
    assert near(jax.jit(traced.matmul)(a, b), jnp.matmul(a, b), TYPES[kind])
    gradients = [jax.jit(jax.grad(lambda a, b, f=f: abs(f(a, b)).astype("float32").sum(), (0, 1)))(a, b)
                 for f in (traced.matmul, jnp.matmul)]
    assert near(*gradients, TYPES[kind])


def test_wider_results():
    a, b = numbers(1, 20, 30, kind="bfloat16"), numbers(2, 30, 10, kind="bfloat16")

    def wide(a, b):
        return jnp.matmul(a, b, preferred_element_type="float32")

    def own(a, b):
        return traced.matmul(a, b, preferred_element_type="float32")

    assert near(own(a, b), wide(a, b))
    gradients = [jax.jit(jax.grad(lambda a, b, f=f: (f(a, b)**2).sum(), (0, 1)))(a, b) for f in (own, wide)]
    assert near(*gradients, 2e-2)
    x, y = jnp.arange(12, dtype="int8").reshape(3, 4), jnp.arange(8, dtype="uint8").reshape(4, 2)
    assert near(traced.matmul(x, y), jnp.matmul(x.astype("int32"), y.astype("int32")))
    assert traced.matmul(a, b.astype("float32")).dtype == "float32"


def test_second_derivatives():
    a, b = numbers(1, 4, 3), numbers(2, 3, 2)
    hessians = [jax.jit(jax.hessian(lambda a, b, f=f: jnp.sin(f(a, b)).sum(), (0, 1)))(a, b)
                for f in (traced.matmul, jnp.matmul)]
    assert near(*hessians)


@pytest.mark.parametrize("dims, is_nested", [((0, None), False), ((0, None), True), ((None, 2), False),
                                             ((2, 1), True)])
def test_vmap(dims, is_nested):
    shapes = [[8, 9], [9, 7]]
    for shape, dim in zip(shapes, dims):
        if dim is not None:
            shape.insert(dim, 5)
            if is_nested:
                shape.insert(0, 3)
    a, b = numbers(1, *shapes[0]), numbers(2, *shapes[1])

    def mapped(f):
        f = jax.vmap(f, dims)
        return jax.vmap(f, [None if dim is None else 0 for dim in dims]) if is_nested else f

    def derivatives(f):
        of_all = jax.grad(lambda a, b: jnp.sin(mapped(f)(a, b)).sum(), (0, 1))
        of_each = mapped(jax.grad(lambda a, b: jnp.sin(f(a, b)).sum(), (0, 1)))
        return jax.jit(lambda a, b: (mapped(f)(a, b), of_all(a, b), of_each(a, b)))

    assert near(derivatives(traced.matmul)(a, b), derivatives(jnp.matmul)(a, b))


@pytest.mark.parametrize("left, right, numbers_of", [
    ((5, 4), (6, 5), (((0,), (1,)), ((), ()))),
    ((2, 4, 5), (2, 6, 5), (((2,), (2,)), ((0,), (0,)))),
    ((4, 2, 5), (5, 6, 2), (((2,), (0,)), ((1,), (2,)))),
    ((5,), (5,), (((0,), (0,)), ((), ()))),
    ((3, 4), (3, 4), (((), ()), ((0, 1), (0, 1))))])
def test_dot_general(left, right, numbers_of):
    a, b = numbers(1, *left), numbers(2, *right)
    functions = [lambda a, b, f=f: f(a, b, numbers_of) for f in (traced.dot_general, jax.lax.dot_general)]
    assert near(jax.jit(functions[0])(a, b), functions[1](a, b))
    assert near(*(jax.jit(jax.grad(lambda a, b, f=f: jnp.sin(f(a, b)).sum(), (0, 1)))(a, b)
                  for f in functions))


SIZES = [[3, 0, 20, 5], [0, 0, 0, 0], [28, 0, 0, 2]]


@pytest.mark.parametrize("sizes", SIZES)
def test_ragged_dot(sizes):
    a, b, sizes = numbers(1, 30, 12), numbers(2, 4, 12, 7), jnp.asarray(sizes)
    assert near(jax.jit(traced.ragged_dot)(a, b, sizes), jax.lax.ragged_dot(a, b, sizes))
    functions = [lambda a, b, f=f: jnp.sin(f(a, b, sizes)).sum()
                 for f in (traced.ragged_dot, jax.lax.ragged_dot)]
    assert near(*(jax.jit(jax.grad(f, (0, 1)))(a, b) for f in functions))


def test_second_derivatives_of_ragged_dot():
    a, b, sizes = numbers(1, 5, 3), numbers(2, 2, 3, 2), jnp.asarray([2, 2])

    def dense(a, b, sizes):
        return jnp.concatenate([a[:2] @ b[0], a[2:4] @ b[1], jnp.zeros((1, 2))])

    assert near(*(jax.jit(jax.hessian(lambda a, b, f=f: jnp.sin(f(a, b, sizes)).sum(), (0, 1)))(a, b)
                  for f in (traced.ragged_dot, dense)))


def test_ragged_dot_of_a_batch():
    a, b = numbers(1, 3, 30, 12), numbers(2, 4, 12, 7)
    sizes = jnp.asarray(SIZES[:3])
    result = jax.vmap(traced.ragged_dot, (0, None, 0))(a, b, sizes)
    assert near(result, jnp.stack([jax.lax.ragged_dot(x, b, s) for x, s in zip(a, sizes)]))


def test_wrong_group_sizes():
    a, b = numbers(1, 30, 12), numbers(2, 2, 12, 7)
    for sizes in ([31, 0], [-1, 5]):
        with pytest.raises(Exception, match="group_sizes has a negative number"):
            jax.block_until_ready(traced.ragged_dot(a, b, jnp.asarray(sizes)))


def test_guarantees():
    a, b = numbers(1, 40, 500), numbers(2, 500, 30)
    exact = numpy.asarray(a, "float64") @ numpy.asarray(b, "float64")
    result = jax.jit(lambda a, b: traced.matmul(a, b, accuracy=1e-7, bits="threads"))(a, b)
    bound = abs(numpy.asarray(a, "float64")) @ abs(numpy.asarray(b, "float64"))
    assert (abs(numpy.asarray(result, "float64") - exact) <= 1e-7 * bound).all()
    for words in ({"accuracy": "nonsense"}, {"bits": "nonsense"}):
        with pytest.raises(Exception, match="nonsense"):
            jax.block_until_ready(traced.matmul(a, b, **words))
    # The derivative has the guarantee, too.
    with pytest.raises(Exception, match="asked for"):
        jax.block_until_ready(jax.grad(lambda a: traced.matmul(a, b, accuracy=1e-30).sum())(a))


@pytest.mark.parametrize("call, error, message", [
    (lambda a, b: traced.matmul(a, b[:-1]), ValueError, "columns do not match"),
    (lambda a, b: traced.matmul(a, 1.0), ValueError, "scalar"),
    (lambda a, b: traced.matmul(jnp.zeros((2, 3, 4)), jnp.zeros((3, 4, 5))), ValueError, "broadcast"),
    (lambda a, b: traced.matmul(a.astype("int32"), b.astype("int32")), TypeError, "no products of int32"),
    (lambda a, b: traced.matmul(a, b, preferred_element_type="int8"), TypeError, "preferred_element_type"),
    (lambda a, b: traced.matmul(a, b, bits=3), TypeError, "bits"),
    (lambda a, b: traced.ragged_dot(a, b, jnp.zeros(2, "int32")), ValueError, "lhs is"),
    (lambda a, b: traced.ragged_dot(a, b[None], jnp.zeros(1)), TypeError, "integers"),
    (lambda a, b: traced.dot_general(a, b, (((0,), (0,)), ((), ()))), ValueError, "contracted")])
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call(numbers(1, 8, 9), numbers(2, 9, 7))


def test_float64():
    enable_x64 = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64  # of JAX 0.6
    with enable_x64(True):
        a, b = numbers(1, 20, 30, kind="float64"), numbers(2, 30, 10, kind="float64")
        assert near(jax.jit(traced.matmul)(a, b), jnp.matmul(a, b), 1e-14)


def test_contractions_in_jit():
    a, b = numbers(1, 4, 5, 6), numbers(2, 6, 5, 3)
    result = jax.jit(lambda a, b: tesela.einsum("ijk,kjl->li", a, b))(a, b)
    assert near(result, jnp.einsum("ijk,kjl->li", a, b))
    gradients = [jax.jit(jax.grad(lambda a, f=f: jnp.sin(f("ijk,kjl->li", a, b)).sum()))(a)
                 for f in (tesela.einsum, jnp.einsum)]
    assert near(*gradients)


def test_without_handlers(monkeypatch):
    """A binding that was built without JAX's headers tells how to build one."""
    monkeypatch.delattr(tesela._core, "xla_handlers")
    spec = importlib.util.spec_from_file_location("tesela.jax_again", traced.__file__)
    with pytest.raises(ImportError, match="built without jaxlib's headers"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


@pytest.mark.parametrize("version", ["#define XLA_FFI_API_MAJOR 0\n#define XLA_FFI_API_MINOR 0\n",
                                     "#define XLA_FFI_API_MAJOR 9\n#define XLA_FFI_API_MINOR 9\n"])
def test_other_versions_of_jax(tmp_path, version):
    header = tmp_path / "c_api.h"
    header.write_text(version)
    with pytest.raises(ImportError, match="build tesela with this JAX"):
        traced._check_version(header)


def test_large_products_on_threads():
    a = numbers(1, 700, 700)
    step = jax.jit(lambda x: traced.matmul(traced.matmul(x, x) / 700, x))
    assert near(step(a), (a @ a / 700) @ a, 1e-4)


@pytest.mark.parametrize("planned, target, workspace",
                         [(None, "tesela_matmul", 1), (0, "tesela_matmul_graph", 1),
                          (5000, "tesela_matmul_graph", 5000)])
def test_cuda_gets_a_workspace(monkeypatch, planned, target, workspace):
    """XLA may record products into its graphs if their plans, and so their workspaces, are known."""
    def plan(*_, **__):
        if planned is None:
            raise tesela.Error("no device")
        return planned

    monkeypatch.setattr(traced._core, "xla_workspace", plan)
    program = jax.jit(lambda a, b: traced.matmul(a, b)).trace(numbers(1, 8, 9), numbers(2, 9, 7))
    text = program.lower(lowering_platforms=("cuda",)).as_text()
    assert f"@{target}(" in text and f"tensor<{workspace}xui8>" in text


def test_weak_types():
    weak = jnp.broadcast_to(2.0, (4, 2)) * 1.0
    assert weak.weak_type
    for kind in ("bfloat16", "float16", "float32"):
        a = numbers(1, 3, 4, kind=kind)
        assert near(traced.matmul(a, weak), jnp.matmul(a, weak), 2e-2)


@pytest.mark.skipif(not hasattr(jax, "shard_map"), reason="this JAX has no jax.shard_map")
def test_shard_map_derivatives():
    """Gradients sum over the devices that share an operand."""
    mesh = jax.sharding.Mesh(numpy.asarray(jax.devices("cpu")[:1]), ("x",))
    rows, whole = jax.sharding.PartitionSpec("x"), jax.sharding.PartitionSpec()
    a, b, experts = numbers(1, 8, 5), numbers(2, 5, 3), numbers(3, 2, 5, 3)
    sizes = jnp.asarray([3, 5], "int32")
    for product, other, operands in (
            (traced.matmul, jnp.matmul, (a, b)),
            (lambda a, b: traced.ragged_dot(a, b, sizes), lambda a, b: jax.lax.ragged_dot(a, b, sizes),
             (a, experts))):
        results = []
        for f in (product, other):
            sharded = jax.shard_map(f, mesh=mesh, in_specs=(rows, whole), out_specs=rows)
            results.append(jax.grad(lambda a, b: jnp.sin(sharded(a, b)).sum(), (0, 1))(*operands))
        assert near(*results)
