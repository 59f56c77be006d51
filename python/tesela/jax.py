"""Products inside of JAX's compiled programs: under jit, vmap and grad, on the processor and on CUDA.

>>> import jax, tesela.jax
>>> step = jax.jit(jax.grad(lambda w, x: tesela.jax.matmul(x, w).sum()))
"""

from __future__ import annotations

import functools
import math
import pathlib
import re
from typing import Any

import numpy

from . import _core
from ._types import guarantee_texts

try:
    import jax
    import jax.extend.core
    import jax.ffi
    import jax.numpy as jnp
    from jax.interpreters import ad, batching, mlir
except ImportError as error:
    raise ImportError(f"tesela.jax needs JAX 0.6 or later: {error}") from error
if not hasattr(_core, "xla_handlers"):
    raise ImportError("this tesela was built without jaxlib's headers: install JAX, then build tesela in the "
                      "same environment by \"pip install --no-build-isolation .\"")

__all__ = ["dot_general", "matmul", "ragged_dot"]


def _check_version(header: pathlib.Path) -> None:
    """Raises an error if this JAX has an older interface than the handlers: it would not start with these."""
    text = header.read_text(encoding="utf-8")
    found = tuple(int(re.search(rf"#define XLA_FFI_API_{part} (\d+)", text)[1])
                  for part in ("MAJOR", "MINOR"))
    major, minor = _core.xla_version
    if found[0] != major or found[1] < minor:
        raise ImportError(f"JAX {jax.__version__} has version {found[0]}.{found[1]} of XLA's FFI, and this "
                          f"tesela was built for {major}.{minor}: build tesela with this JAX")


_check_version(pathlib.Path(jax.ffi.include_dir(), "xla/ffi/api/c_api.h"))
for _name, _platform, _handler in _core.xla_handlers():
    jax.ffi.register_ffi_target(_name, _handler, platform=_platform)


def _guarantees(accuracy, bits) -> dict[str, str]:
    """Returns accuracy and bits as attributes of a handler."""
    return dict(zip(("accuracy", "bits"), guarantee_texts(accuracy, bits)))


def _result_type(a, b, wanted) -> str:
    """Returns the type of a product of operands of types a and b."""
    results = _core.product_types(a.dtype.name, b.dtype.name, False)
    if not results:
        raise TypeError(f"tesela has no products of {a.dtype.name} and {b.dtype.name}: equal types of "
                        "floating point, 8-bit integers, or 8-bit floating point are expected")
    name = results[0] if wanted is None else jnp.dtype(wanted).name
    if name not in results:
        raise TypeError(f"preferred_element_type is {name}: a product of {a.dtype.name} and {b.dtype.name} "
                        f"is {' or '.join(results)}")
    return name


def _promote(a, b):
    """Returns both operands as arrays of JAX, in one type if they are floating point of different types."""
    a, b = jnp.asarray(a), jnp.asarray(b)
    if a.dtype != b.dtype and not _core.product_types(a.dtype.name, b.dtype.name, False):
        common = jnp.result_type(a, b)
        if jnp.issubdtype(common, jnp.inexact):
            a, b = a.astype(common), b.astype(common)
    return a, b


def _varying(array) -> frozenset:
    """Returns the axes of a shard_map over which an array varies. JAX 0.12 renamed the attribute."""
    aval = jax.typeof(array) if hasattr(jax, "typeof") else None
    return getattr(getattr(aval, "mat", None), "varying", None) or getattr(aval, "vma", frozenset())


def _vary_alike(*arrays):
    """Returns the arrays, varying over the same axes of a shard_map. Derivatives then sum over these axes."""
    axes = [_varying(array) for array in arrays]
    missing = [tuple(frozenset().union(*axes) - known) for known in axes]
    if not any(missing):
        return arrays
    vary = functools.partial(jax.lax.pcast, to="varying") if hasattr(jax.lax, "pcast") else jax.lax.pvary
    return tuple(vary(array, each) if each else array for array, each in zip(arrays, missing))


def _abstract(like, shape, kind: str):
    """Returns the abstract result of a product. It varies over the axes of the operand `like`."""
    replicated = jax.sharding.PartitionSpec(*[None] * len(shape))
    return like.update(shape=shape, dtype=jnp.dtype(kind), weak_type=False,
                       sharding=jax.sharding.NamedSharding(like.sharding.mesh, replicated))


# --- stacks of matrices ---

#: Product of stacks of matrices with equal numbers of dimensions. Dimensions of size 1 broadcast.
_matmul_p = jax.extend.core.Primitive("tesela_matmul")


def _shape(a, b, transpose_a, transpose_b):
    batch = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return (*batch, a.shape[-1 if transpose_a else -2], b.shape[-2 if transpose_b else -1])


@_matmul_p.def_abstract_eval
def _matmul_abstract(a, b, *, transpose_a, transpose_b, kind, accuracy, bits):
    return _abstract(a, _shape(a, b, transpose_a, transpose_b), kind)


def _lower(target: str):
    """Returns the rule that makes a primitive a call of a handler. kind is the type of the result."""
    rule = jax.ffi.ffi_lowering(target)

    def lower(ctx, *operands, kind, **attributes):
        return rule(ctx, *operands, **attributes)

    return lower


def _lower_cuda(ctx, *operands, kind, **attributes):
    """Makes a product a call with a second result, its workspace. XLA may record it into a graph if the plan
    is known here."""
    target, workspace = "tesela_matmul_graph", 0
    try:
        workspace = _core.xla_workspace(*((aval.shape, aval.dtype.name)
                                          for aval in (*ctx.avals_in, *ctx.avals_out)), **attributes)
    except Exception:  # no device here, or no plan: the program reports it when it runs
        target = "tesela_matmul"
    memory = jax.core.ShapedArray((max(workspace, 1),), jnp.dtype("uint8"))
    rule = jax.ffi.ffi_lowering(target)
    return rule(ctx.replace(avals_out=[*ctx.avals_out, memory]), *operands, **attributes)[:1]


def _register(primitive, target: str, static: tuple[str, ...], lower_cuda=None) -> None:
    """Makes a primitive a call of a handler, on the processor and on CUDA, inside and outside of jit."""
    primitive.def_impl(jax.jit(primitive.bind, static_argnames=(*static, "kind", "accuracy", "bits")))
    mlir.register_lowering(primitive, _lower(target), platform="cpu")
    mlir.register_lowering(primitive, lower_cuda or _lower(target), platform="cuda")


def _to(array, dtype):
    return array if array.dtype == dtype else array.astype(dtype)


def _reduce(array, shape):
    """Sums over the dimensions that were broadcast from size 1."""
    axes = tuple(i for i, (size, wanted) in enumerate(zip(array.shape, shape)) if size != wanted)
    return array.sum(axes, keepdims=True) if axes else array


def _gradient(a, b, transpose_a, transpose_b, aval, guarantees):
    """Returns a product of a gradient and an operand, in the shape and type of the other operand."""
    if a.dtype != b.dtype:
        common = jnp.promote_types(a.dtype, b.dtype)
        a, b = a.astype(common), b.astype(common)
    product = _product(a, b, transpose_a, transpose_b, a.dtype.name, guarantees)
    return _to(_reduce(product, aval.shape), aval.dtype)


def _left_transpose(ct, a, b, *, transpose_a, transpose_b, kind, **guarantees):
    aval = a.aval
    if transpose_a:
        return _gradient(b, ct, transpose_b, True, aval, guarantees)
    return _gradient(ct, b, False, not transpose_b, aval, guarantees)


def _right_transpose(ct, a, b, *, transpose_a, transpose_b, kind, **guarantees):
    aval = b.aval
    if transpose_b:
        return _gradient(ct, a, True, transpose_a, aval, guarantees)
    return _gradient(a, ct, not transpose_a, False, aval, guarantees)


def _bilinear_transpose(ct, a, b, **params):
    if type(ct) is ad.Zero:
        return [ad.Zero(x.aval) if ad.is_undefined_primal(x) else None for x in (a, b)]
    if ad.is_undefined_primal(a):
        return [_left_transpose(ct, a, b, **params), None]
    return [None, _right_transpose(ct, a, b, **params)]


def _matmul_batch(operands, dims, **params):
    """Adds a dimension to the stack. If only a matrix A has the dimension, its rows are joined."""
    a, b = operands
    if dims[1] is None and a.ndim == 3 and not params["transpose_a"]:
        a = jnp.moveaxis(a, dims[0], 0)
        product = _matmul_p.bind(a.reshape(-1, a.shape[-1]), b, **params)
        return product.reshape(*a.shape[:-1], product.shape[-1]), 0
    a, b = (x[None] if dim is None else jnp.moveaxis(x, dim, 0) for x, dim in zip((a, b), dims))
    return _matmul_p.bind(a, b, **params), 0


_register(_matmul_p, "tesela_matmul", ("transpose_a", "transpose_b"), _lower_cuda)
ad.defjvp(_matmul_p, lambda da, a, b, **params: _matmul_p.bind(da, b, **params),
          lambda db, a, b, **params: _matmul_p.bind(a, db, **params))
ad.primitive_transposes[_matmul_p] = _bilinear_transpose
batching.primitive_batchers[_matmul_p] = _matmul_batch


def _product(a, b, transpose_a, transpose_b, kind, guarantees):
    """Multiplies stacks; products without terms are zero."""
    shape = _shape(a, b, transpose_a, transpose_b)
    if 0 in a.shape or 0 in b.shape:
        return jnp.zeros(shape, kind)
    return _matmul_p.bind(*_vary_alike(a, b), transpose_a=transpose_a, transpose_b=transpose_b, kind=kind,
                          **guarantees)


def matmul(a, b, *, accuracy: str | float | None = None, bits: str | None = None,
           preferred_element_type: Any = None):
    """Multiplies arrays as `jax.numpy.matmul` does.

    Parameters
    ----------
    a, b : array
        Dimensions before the last two broadcast.
    accuracy, bits : optional
        Guarantees as in `tesela.matmul`, for the derivatives, too.
    preferred_element_type : dtype, optional
        Type of the result: float32 for float16, bfloat16 and 8-bit floating point, for example.

    Returns
    -------
    product : jax.Array

    Raises
    ------
    ValueError
        Shapes that do not match.
    TypeError
        Types that tesela does not multiply.
    """
    a, b = _promote(a, b)
    kind = _result_type(a, b, preferred_element_type)
    guarantees = _guarantees(accuracy, bits)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("matmul takes arrays of one dimension or more, and * multiplies by a scalar")
    if a.shape[-1] != b.shape[max(b.ndim - 2, 0)]:
        raise ValueError(f"a is {a.shape} and b is {b.shape}: {a.shape[-1]} columns do not match "
                         f"{b.shape[max(b.ndim - 2, 0)]} rows")
    is_row, is_column = a.ndim == 1, b.ndim == 1
    a, b = a[None] if is_row else a, b[:, None] if is_column else b
    try:
        batch = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ValueError(f"a is {a.shape} and b is {b.shape}: dimensions before the last two do not "
                         "broadcast") from None
    if b.ndim == 2 and a.ndim > 2:
        shape = a.shape
        product = _product(a.reshape(math.prod(shape[:-1]), shape[-1]), b, False, False, kind, guarantees)
        product = product.reshape(*shape[:-1], b.shape[-1])
    else:
        a, b = (x.reshape(*[1] * (len(batch) - x.ndim + 2), *x.shape) for x in (a, b))
        product = _product(a, b, False, False, kind, guarantees)
    product = product[..., 0, :] if is_row else product
    return product[..., 0] if is_column else product


def dot_general(lhs, rhs, dimension_numbers, *, accuracy: str | float | None = None, bits: str | None = None,
                preferred_element_type: Any = None):
    """Contracts arrays as `jax.lax.dot_general` does.

    Parameters
    ----------
    lhs, rhs : array
    dimension_numbers : pair of pairs of sequences of int
        ((contracted dimensions of lhs, of rhs), (batch dimensions of lhs, of rhs)).
    accuracy, bits, preferred_element_type : optional
        As in `matmul`.

    Returns
    -------
    product : jax.Array
        Batch dimensions, then the others of lhs, then those of rhs.
    """
    lhs, rhs = jnp.asarray(lhs), jnp.asarray(rhs)
    kind = _result_type(lhs, rhs, preferred_element_type)
    guarantees = _guarantees(accuracy, bits)
    (a_inner, b_inner), (a_batch, b_batch) = (tuple(tuple(map(int, each)) for each in pair)
                                              for pair in dimension_numbers)
    for name, a_dims, b_dims in (("contracted", a_inner, b_inner), ("batch", a_batch, b_batch)):
        sizes = [lhs.shape[i] for i in a_dims], [rhs.shape[i] for i in b_dims]
        if sizes[0] != sizes[1]:
            raise ValueError(f"the {name} dimensions of lhs have the sizes {sizes[0]}, of rhs {sizes[1]}")
    a_free = [i for i in range(lhs.ndim) if i not in a_inner and i not in a_batch]
    b_free = [i for i in range(rhs.ndim) if i not in b_inner and i not in b_batch]
    batch = [lhs.shape[i] for i in a_batch]
    inner = math.prod(lhs.shape[i] for i in a_inner)
    # The order that lhs and rhs already have needs no transpose.
    transpose_a = list(range(lhs.ndim)) == [*a_batch, *a_inner, *a_free] and bool(a_free)
    transpose_b = list(range(rhs.ndim)) == [*b_batch, *b_free, *b_inner] and bool(b_free)
    a_rows, b_cols = math.prod(lhs.shape[i] for i in a_free), math.prod(rhs.shape[i] for i in b_free)
    a = lhs.transpose(*a_batch, *(a_inner if transpose_a else a_free), *(a_free if transpose_a else a_inner))
    b = rhs.transpose(*b_batch, *(b_free if transpose_b else b_inner), *(b_inner if transpose_b else b_free))
    a = a.reshape(*batch, *((inner, a_rows) if transpose_a else (a_rows, inner)))
    b = b.reshape(*batch, *((b_cols, inner) if transpose_b else (inner, b_cols)))
    product = _product(a, b, transpose_a, transpose_b, kind, guarantees)
    return product.reshape(*batch, *(lhs.shape[i] for i in a_free), *(rhs.shape[i] for i in b_free))


# --- groups of rows ---

#: Products of groups of rows of a: with a matrix of b each, or with the same rows of b (is_sum).
_ragged_p = jax.extend.core.Primitive("tesela_ragged_dot")


def _ragged_shape(a, b, sizes, is_sum, transpose_b):
    if is_sum:
        return sizes.shape[0], a.shape[1], b.shape[1]
    return a.shape[0], b.shape[1 if transpose_b else 2]


@_ragged_p.def_abstract_eval
def _ragged_abstract(a, b, sizes, *, is_sum, transpose_b, kind, accuracy, bits):
    return _abstract(a, _ragged_shape(a, b, sizes, is_sum, transpose_b), kind)


def _ragged(a, b, sizes, is_sum, transpose_b, kind, guarantees):
    """Multiplies groups of rows; products without terms are zero."""
    if a.dtype != b.dtype and not _core.product_types(a.dtype.name, b.dtype.name, False):
        common = jnp.promote_types(a.dtype, b.dtype)
        a, b, kind = a.astype(common), b.astype(common), common.name
    if 0 in (*a.shape, *b.shape, *sizes.shape):
        return jnp.zeros(_ragged_shape(a, b, sizes, is_sum, transpose_b), kind)
    return _ragged_p.bind(*_vary_alike(a, b, sizes), is_sum=is_sum, transpose_b=transpose_b, kind=kind,
                          **guarantees)


def _ragged_transpose(ct, a, b, sizes, *, is_sum, transpose_b, kind, **guarantees):
    if type(ct) is ad.Zero:
        return [ad.Zero(x.aval) if ad.is_undefined_primal(x) else None for x in (a, b, sizes)]

    def gradient(x, y, is_sum, transpose_b, aval):
        return _to(_ragged(x, y, sizes, is_sum, transpose_b, x.dtype.name, guarantees), aval.dtype)

    if ad.is_undefined_primal(a):
        if is_sum:
            return [gradient(b, ct, False, True, a.aval), None, None]
        return [gradient(ct, b, False, not transpose_b, a.aval), None, None]
    if is_sum:
        made = gradient(a, ct, False, False, b.aval)
    else:
        made = gradient(*((ct, a) if transpose_b else (a, ct)), True, False, b.aval)
    return [None, made, None]


def _ragged_batch(operands, dims, **params):
    """Runs the products of a batch one after the other."""
    operands = [x if dim is None else jnp.moveaxis(x, dim, 0) for x, dim in zip(operands, dims)]
    mapped = [dim is not None for dim in dims]

    def multiply(parts):
        parts = iter(parts)
        return _ragged_p.bind(*(next(parts) if is_mapped else x for x, is_mapped in zip(operands, mapped)),
                              **params)

    return jax.lax.map(multiply, tuple(x for x, is_mapped in zip(operands, mapped) if is_mapped)), 0


_register(_ragged_p, "tesela_ragged_dot", ("is_sum", "transpose_b"))
ad.defjvp(_ragged_p, lambda da, a, b, sizes, **params: _ragged_p.bind(da, b, sizes, **params),
          lambda db, a, b, sizes, **params: _ragged_p.bind(a, db, sizes, **params), None)
ad.primitive_transposes[_ragged_p] = _ragged_transpose
batching.primitive_batchers[_ragged_p] = _ragged_batch


def ragged_dot(lhs, rhs, group_sizes, *, accuracy: str | float | None = None, bits: str | None = None,
               preferred_element_type: Any = None):
    """Multiplies groups of rows by a matrix each, as `jax.lax.ragged_dot` does.

    On CUDA the call waits for the group sizes and for the result.

    Parameters
    ----------
    lhs : array
        m x k.
    rhs : array
        Matrices of g groups: g x k x n.
    group_sizes : array of integers
        Number of rows of each group. Rows behind the last group give zeros.
    accuracy, bits, preferred_element_type : optional
        As in `matmul`.

    Returns
    -------
    product : jax.Array
        m x n.
    """
    lhs, rhs = _promote(lhs, rhs)
    sizes = jnp.asarray(group_sizes)
    kind = _result_type(lhs, rhs, preferred_element_type)
    if lhs.ndim != 2 or rhs.ndim != 3 or sizes.ndim != 1 or lhs.shape[1] != rhs.shape[1] or (
            rhs.shape[0] != sizes.shape[0]):
        raise ValueError(f"lhs is {lhs.shape}, rhs {rhs.shape} and group_sizes {sizes.shape}: "
                         "(m, k), (g, k, n) and (g,) are expected")
    if not jnp.issubdtype(sizes.dtype, jnp.integer):
        raise TypeError(f"group_sizes is {sizes.dtype.name}: integers are expected")
    return _ragged(lhs, rhs, sizes.astype("int32"), False, False, kind, _guarantees(accuracy, bits))
