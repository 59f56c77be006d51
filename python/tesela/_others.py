"""Dot products and transposes."""

from __future__ import annotations

from typing import Any

from . import _core
from ._core import check_out, matrix_strides, product_types, scalar
from ._libraries import NumPy, repeated_copy, see, see_out
from ._problem import is_repeated, nothing_ran
from ._types import TRANSPOSES, ask_of, promoted, result_type, type_name


def _vector(seen):
    (n,), (stride,) = seen.view.shape, seen.view.strides
    if stride == 0 and n > 1:
        seen = repeated_copy(seen, "a vector of one element")
        stride = seen.view.strides[0]
    return seen, _core.operand(seen.view, 0, stride if n > 1 else 1, 1, False)


def dot(x: Any, y: Any, *, alpha=1, dtype=None, device: str | None = None, strategy: str | None = None,
        accuracy: str | float | None = None, bits: str | None = None, measure_error: int = 0, full_output: bool = False):
    """Dot product of two vectors, alpha (x[0] y[0] + ... + x[n-1] y[n-1]).

    Parameters
    ----------
    x, y : array, shape (n,)
        On the host, both float64, float32, float16 or bfloat16, or each int8 or uint8.
    alpha : number, optional
    dtype : type, optional
        Of the result: that of `x`, float32 of float16 and bfloat16 too, and int32 of integers.
    accuracy, bits, measure_error : optional
        As in `matmul`; measuring takes longer than the dot itself.
    device, strategy : str, optional
        As in `matmul`; "exact" rounds once, whatever the vectors are.
    full_output : bool, optional

    Returns
    -------
    value : scalar
        A NumPy scalar, or an array without dimensions of the library of `x`.
    info : Info
        Only with `full_output`.

    Raises
    ------
    ValueError, TypeError, MemoryError, tesela.Error
        As `matmul`.

    Examples
    --------
    >>> import numpy, tesela
    >>> float(tesela.dot(numpy.array([1e16, 1.0, -1e16]), numpy.ones(3), strategy="exact"))
    1.0
    """
    left, right = see(x, "x"), see(y, "y")
    for name, seen in (("x", left), ("y", right)):
        if len(seen.view.shape) != 1:
            raise ValueError(f"{name} has {len(seen.view.shape)} dimensions: dot takes vectors, matmul takes the others")
        if not seen.on_host:
            raise ValueError(f"{name} is on a device: dot takes vectors on the host; matmul takes these as a row and a column")
    (n,), (other,) = left.view.shape, right.view.shape
    if n != other:
        raise ValueError(f"x has {n} elements and y {other}")
    wanted = type_name(dtype)
    types = product_types(left.view.dtype, right.view.dtype, False)
    if not types or wanted not in (None, *types):
        left, right = promoted(left, right, wanted, False, names="xy")
    kind = result_type(left.view.dtype, right.view.dtype, wanted, dot=True)
    result = left.library.empty((), kind, left)
    into = see(result, "result")
    left, a = _vector(left)
    right, b = _vector(right)
    info = _core.dot(n, a, b, _core.operand(into.view, 0, 1, 1, False), scalar(alpha, kind, "alpha"), 0, device,
                             strategy, ask_of(accuracy, bits, measure_error))
    result = left.library.finish(result)
    if left.library is NumPy:
        result = result[()]
    return (result, info) if full_output else result


def transpose(a: Any, out: Any = None, *, alpha=1, device: str | None = None, strategy: str | None = None,
              accuracy: str | float | None = None, bits: str | None = None, measure_error: int = 0,
              full_output: bool = False):
    """The transpose alpha a', as a matrix of its own that lies by rows; a view of the same memory is what `a.T` is.

    Parameters
    ----------
    a : array, shape (rows, cols)
        On the host, of any type of `matmul`, or int32.
    out : array, shape (cols, rows), optional
        Shares no memory with `a`, or is `a`, which is square then and transposed in place.
    alpha : number, optional
    device, strategy, accuracy, bits, measure_error : optional
        As in `matmul`.
    full_output : bool, optional

    Returns
    -------
    b : array, shape (cols, rows)
        `out`, or a new array of the library of `a`.
    info : Info
        Only with `full_output`.

    Raises
    ------
    ValueError, TypeError, MemoryError, tesela.Error
        As `matmul`.
    """
    seen = see(a, "a")
    view = seen.view
    if len(view.shape) != 2:
        raise ValueError(f"a has {len(view.shape)} dimensions: transpose takes matrices")
    if not seen.on_host:
        raise ValueError("a is on a device: transpose takes matrices on the host")
    if view.dtype not in TRANSPOSES:
        raise TypeError(f"tesela does not transpose {view.dtype}: possible are {', '.join(TRANSPOSES)}")
    factor = scalar(alpha, view.dtype, "alpha")
    rows, cols = view.shape
    result = seen.library.empty((cols, rows), view.dtype, seen) if out is None else out
    into = see_out(result)
    in_place = (out is not None and into.view.data == view.data and rows == cols
                and tuple(into.view.strides) == tuple(view.strides))
    if out is not None:
        if into.view.dtype != view.dtype:
            raise TypeError(f"out is {into.view.dtype} and a {view.dtype}: transpose converts nothing")
        check_out(into, (cols, rows), [] if in_place else [("a", seen)])
    if is_repeated(rows, cols, *view.strides):
        seen = repeated_copy(seen, "a")
        view = seen.view
    if rows == 0 or cols == 0:
        info = nothing_ran()
    else:
        source = _core.operand(view, 0, *matrix_strides(rows, cols, *view.strides), False)
        target = _core.operand(into.view, 0, *matrix_strides(cols, rows, *into.view.strides), False)
        info = _core.transpose(rows, cols, source, target, in_place, factor, device, strategy,
                                        ask_of(accuracy, bits, measure_error))
    if seen.conjugate:
        raise TypeError("a is a conjugate that was not computed yet: resolve_conj() computes it")
    if out is None:
        result = seen.library.finish(result)
    return (result, info) if full_output else result
