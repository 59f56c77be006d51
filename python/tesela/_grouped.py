"""Products that differ, in one call."""

from __future__ import annotations

from typing import Any, Sequence

from . import _core
from ._core import check_out, matrix_strides, product_types, same_place, scalar
from ._libraries import repeated_copy, see, see_out
from ._problem import Matrices, is_repeated, nothing_ran
from ._types import ask_of, promoted, result_type


def matmul_grouped(a: Sequence[Any], b: Sequence[Any], out: Sequence[Any] | None = None, *, alpha=1, beta=0,
                   device: str | None = None, strategy: str | None = None, accuracy: str | float | None = None,
                   bits: str | None = None, measure_error: int = 0, full_output: bool = False):
    """Matrix products alpha a[i] b[i], or alpha a[i] b[i] + beta out[i], of any sizes, shared out among all threads.

    Every result has the bits that `matmul` gives. Nothing is computed where one of the products is wrong; the error has its number.

    Parameters
    ----------
    a : sequence of arrays, shapes (m, k)
        Of the host: NumPy's, or what `numpy.asarray` takes; types and sizes may differ from product to product.
    b : sequence of arrays, shapes (k, n)
        As many.
    out : sequence of arrays, shapes (m, n), optional
        Where the results go. They share no memory with each other, nor with any factor.
    alpha, beta : number, optional
        Factors of all products, and of what `out` held. 0 never reads it.
    device, strategy, accuracy, bits, measure_error, full_output :
        As of `matmul`, for all products. Where sizes are small and new to each call, `strategy="host_small"` saves most of
        the time that choosing takes.

    Returns
    -------
    list of arrays
        `out`'s, or new ones; with `full_output` and an `Info` of all products together.
    """
    a, b = list(a), list(b)
    results = None if out is None else list(out)
    if len(a) != len(b) or (results is not None and len(results) != len(a)):
        raise ValueError(f"a has {len(a)} arrays, b {len(b)}{'' if results is None else f' and out {len(results)}'}: "
                         "as many of each are expected")
    if beta and results is None:
        raise ValueError("beta is the factor of what out held, and there is no out")
    ask = ask_of(accuracy, bits, measure_error)
    made, members, factors, kept = [], [], [], []
    for i in range(len(a)):
        try:
            result, member, kind, seen = see_product(a[i], b[i], None if results is None else results[i])
        except (TypeError, ValueError) as error:
            raise type(error)(f"product {i}: {error}") from None
        made.append(result)
        members.append(member)
        kept.append(seen)
        factors.append((scalar(alpha, kind, "alpha"), scalar(beta, kind, "beta")))
    info = nothing_ran()
    if members:
        info = _core.multiply_grouped(members, *factors[0], device, strategy, ask)
    return (made, info) if full_output else made


def _matrix(seen, name: str) -> Matrices:
    if is_repeated(*seen.view.shape, *seen.view.strides):
        seen = repeated_copy(seen, name)
    return Matrices(seen, 0, *matrix_strides(*seen.view.shape, *seen.view.strides), (), seen.conjugate)


def see_product(a, b, out):
    """The result of one product, the library's operands, its type, and what must live until it is computed."""
    seen_a, seen_b = see(a, "a"), see(b, "b")
    same_place(("a", seen_a), ("b", seen_b))
    if not seen_a.on_host:
        raise TypeError("a is on a device: groups are multiplied on the host")
    shapes = tuple(seen_a.view.shape), tuple(seen_b.view.shape)
    if len(shapes[0]) != 2 or len(shapes[1]) != 2 or shapes[0][1] != shapes[1][0]:
        raise ValueError(f"a is {shapes[0]} and b is {shapes[1]}: m x k and k x n are expected")
    (m, k), n = shapes[0], shapes[1][1]
    into = None if out is None else see_out(out)
    wanted = None if into is None else into.view.dtype
    types = product_types(seen_a.view.dtype, seen_b.view.dtype, False)
    if not types or wanted not in (None, *types):
        seen_a, seen_b = promoted(seen_a, seen_b, wanted, False, "out")
    kind = result_type(seen_a.view.dtype, seen_b.view.dtype, wanted, asks="out")
    if into is not None:
        same_place(("a", seen_a), ("out", into))
        check_out(into, (m, n), [("a", seen_a), ("b", seen_b)])
        result = out
    else:
        result = seen_a.library.empty((m, n), kind, seen_a)
        into = see(result, "out") if not hasattr(result, "seen") else result.seen
        result = seen_a.library.finish(result)
    left, right = (_matrix(seen, name) if m and n and k else Matrices(seen, 0, 1, 1, ()) for seen, name in ((seen_a, "a"), (seen_b, "b")))
    c = _core.operand(into.view, 0, *matrix_strides(m, n, *into.view.strides), False)
    return result, (m, n, k, left.operand(), right.operand(), c), kind, (left, right, into)
