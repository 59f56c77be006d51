"""BLAS's Level 3 beside gemm: products and solves with matrices of which one triangle stands for all."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _core
from ._core import check_out, matrix_strides, same_place, scalar
from ._libraries import Seen, repeated_copy, see, see_out
from ._problem import Matrices, is_repeated, nothing_ran
from ._types import ask_of, common_type

# The public header's numbers.
GENERAL, SYMMETRIC, HERMITIAN, TRIANGULAR, UNIT_TRIANGULAR = range(5)
WHOLE, LOWER, UPPER = range(3)
TYPES = ("float32", "float64", "complex64", "complex128")


class Matrix(NamedTuple):
    """A matrix as it takes part."""

    seen: Seen
    rows: int
    cols: int
    at: Matrices

    def operand(self):
        return self.at.operand()


def _see(array, name: str, like: Seen | None = None) -> Seen:
    """Looks at an array, and converts it where NumPy would: integers to float64, and to the type of `like`."""
    seen = see(array, name)
    if not seen.on_host:
        raise ValueError(f"{name} is on a device: products with triangles are of arrays on the host; matmul takes general ones")
    kind = seen.view.dtype
    common = common_type(kind, kind if like is None else like.view.dtype)
    if common in TYPES and common != kind:
        return seen.library.convert(seen, name, common)
    if kind not in TYPES:
        raise TypeError(f"{name} is {kind}: triangles are of {', '.join(TYPES)}")
    return seen


def _see_pair(a, b) -> tuple:
    left = _see(a, "a")
    right = _see(b, "b", left)
    return _see(left.array, "a", right) if left.view.dtype != right.view.dtype else left, right


def _how(trans) -> str:
    how = trans.lower() if isinstance(trans, str) else trans
    if how not in ("n", "t", "c"):
        raise ValueError(f'trans is {trans!r}: "n" is as it is, "t" transposed and "c" conjugated and transposed')
    return how


def _matrix(seen: Seen, name: str, how: str = "n") -> Matrix:
    """`how` transposes ("t"), and conjugates ("c"), what lies there."""
    if len(seen.view.shape) != 2:
        raise ValueError(f"{name} has {len(seen.view.shape)} dimensions, and a matrix is expected")
    if is_repeated(*seen.view.shape, *seen.view.strides):
        seen = repeated_copy(seen, name)
    (rows, cols), (row_stride, col_stride) = seen.view.shape, seen.view.strides
    if how != "n":
        rows, cols, row_stride, col_stride = cols, rows, col_stride, row_stride
    conjugate = seen.conjugate != (how == "c" and seen.view.dtype.startswith("complex"))
    return Matrix(seen, rows, cols, Matrices(seen, 0, *matrix_strides(rows, cols, row_stride, col_stride), (), conjugate))


def _square(seen: Seen, name: str, how: str = "n") -> Matrix:
    matrix = _matrix(seen, name, how)
    if matrix.rows != matrix.cols:
        raise ValueError(f"{name} is {matrix.rows} x {matrix.cols}: a triangle is half of a square")
    return matrix


def _triangle(lower: bool, how: str) -> int:
    """Of what takes part: a transpose turns it over."""
    return LOWER if bool(lower) == (how == "n") else UPPER


def _columns(seen: Seen, name: str) -> tuple:
    """Right-hand sides, and whether they are one vector, which is a column then."""
    if len(seen.view.shape) == 1:
        (n,), (stride,) = seen.view.shape, seen.view.strides
        if stride == 0 and n > 1:
            seen = repeated_copy(seen, name)
            (stride,) = seen.view.strides
        return Matrix(seen, n, 1, Matrices(seen, 0, *matrix_strides(n, 1, stride, 1), (), seen.conjugate)), True
    return _matrix(seen, name), False


def _is_same(one: Seen, other: Seen) -> bool:
    """Whether two views are of the very same elements."""
    a, b = one.view, other.view
    return a.data == b.data and tuple(a.shape) == tuple(b.shape) and tuple(a.strides) == tuple(b.strides)


def _result(like: Matrix, shape: tuple, out, reads: tuple, in_place: Seen | None = None) -> tuple:
    """Where a result goes: the array, its matrix, and whether it is what `in_place` holds."""
    seen = like.seen
    for name, other in reads:
        if other.view.dtype != seen.view.dtype:
            raise TypeError(f"{name} is {other.view.dtype} and another array {seen.view.dtype}: triangles meet their own type")
    result = seen.library.empty(shape, seen.view.dtype, seen) if out is None else out
    into = see_out(result) if out is not None else getattr(result, "seen", None) or see(result, "out")
    same = out is not None and in_place is not None and _is_same(into, in_place)
    if out is not None:
        same_place(("out", into), *reads)
        if into.view.dtype != seen.view.dtype:
            raise TypeError(f"out is {into.view.dtype}, and the result {seen.view.dtype}")
        check_out(into, tuple(shape), [(name, other) for name, other in reads if not (same and other is in_place)])
    rows, cols = shape if len(shape) == 2 else (shape[0], 1)
    strides = tuple(into.view.strides) if len(shape) == 2 else (*into.view.strides, 1)
    return result, Matrix(into, rows, cols, Matrices(into, 0, *matrix_strides(rows, cols, *strides), ())), same


def _finished(like: Seen, result, info, out, full_output: bool):
    result = like.library.finish(result) if out is None else result
    return (result, info) if full_output else result


def _resolved(seen: Seen, name: str) -> None:
    if seen.conjugate:
        raise TypeError(f"{name} is a conjugate that was not computed yet: resolve_conj() computes it")


def _check_sizes(square: Matrix, others: Matrix, right: bool) -> None:
    meets, what = (others.cols, "columns") if right else (others.rows, "rows")
    if square.rows != meets:
        raise ValueError(f"a is {square.rows} x {square.cols}, and b has {meets} {what}")


def _triangle_and_columns(a, b, trans: str, right: bool) -> tuple[Matrix, Matrix]:
    left, right_side = _see_pair(a, b)
    triangle = _square(left, "a", trans)
    columns, is_vector = _columns(right_side, "b")
    if right and is_vector:
        raise ValueError("b is a vector: on the left of a triangle it is a row, b[None, :]")
    _check_sizes(triangle, columns, right)
    return triangle, columns


def solve_triangular(a: Any, b: Any, out: Any = None, *, alpha=1, lower: bool = False, unit_diagonal: bool = False,
                     trans: str = "n", right: bool = False, device: str | None = None, strategy: str | None = None,
                     accuracy: str | float | None = None, bits: str | None = None, full_output: bool = False):
    """The solution x of op(a) x = alpha b, or x op(a) = alpha b, where a is triangular, by substitution.

    Parameters
    ----------
    a : array, shape (n, n)
        On the host, float64, float32, complex64 or complex128. What lies beside its triangle is not read.
    b : array, shape (n, k) or (n,); with `right` (k, n)
        Right-hand sides, of the type of `a`.
    out : array of the shape of b, optional
        Shares no memory with `a` and `b`, or is `b`, which the solution replaces then.
    alpha : number, optional
    lower : bool, optional
        Which triangle of `a` is taken, as it lies. Default: the upper one, as in SciPy.
    unit_diagonal : bool, optional
        The diagonal is ones, and not read.
    trans : {"n", "t", "c"}, optional
        op(a): as it is, transposed, or conjugated and transposed.
    right : bool, optional
        `a` stands on the right.
    device, strategy, accuracy, bits, full_output : optional
        As in `matmul`. `info.error_bound` is of alpha b - op(a) x, in units of abs(op(a)) abs(x).

    Returns
    -------
    x : array of the shape of b
    info : Info
        Only with `full_output`.

    Raises
    ------
    ValueError, TypeError, MemoryError, tesela.Error
        As `matmul`. A 0 on the diagonal is none of these: it makes infinities and NaN, by the rules of division.

    Examples
    --------
    >>> import numpy, tesela
    >>> tesela.solve_triangular(numpy.array([[2.0, 0.0], [1.0, 4.0]]), numpy.array([2.0, 9.0]), lower=True)
    array([1., 2.])
    """
    trans = _how(trans)
    triangle, sides = _triangle_and_columns(a, b, trans, right)
    _resolved(sides.seen, "b")
    factor = scalar(alpha, sides.seen.view.dtype, "alpha")
    result, x, in_place = _result(sides, tuple(sides.seen.view.shape), out, (("a", triangle.seen), ("b", sides.seen)),
                                  sides.seen)
    if sides.rows == 0 or sides.cols == 0:
        info = nothing_ran()
    else:
        info = _core.solve(sides.rows, sides.cols, triangle.operand(), UNIT_TRIANGULAR if unit_diagonal else TRIANGULAR,
                                   _triangle(lower, trans), bool(right), None if in_place else sides.operand(), x.operand(),
                                   factor, device, strategy, ask_of(accuracy, bits, 0))
    return _finished(sides.seen, result, info, out, full_output)


def _multiply(square: Matrix, structure: int, triangle: int, others: Matrix, result: Matrix, in_place: bool, right: bool, alpha,
              beta, device, strategy, ask):
    """A factor with a structure, on the left or the right of the others."""
    if others.rows == 0 or others.cols == 0:
        return nothing_ran()
    general = None if in_place else others.operand()
    pair = (general, square.operand()) if right else (square.operand(), general)
    shapes = [GENERAL, WHOLE, structure, triangle] if right else [structure, triangle, GENERAL, WHOLE]
    return _core.multiply_structured(others.rows, others.cols, square.rows, *pair, result.operand(), alpha, beta,
                                             [*shapes, GENERAL, WHOLE], device, strategy, ask)


def trmm(a: Any, b: Any, out: Any = None, *, alpha=1, lower: bool = False, unit_diagonal: bool = False, trans: str = "n",
         right: bool = False, device: str | None = None, strategy: str | None = None, accuracy: str | float | None = None,
         bits: str | None = None, full_output: bool = False):
    """The product alpha op(a) b, or alpha b op(a), where a is triangular: in about half the time of `matmul`.

    Parameters
    ----------
    a, b, out, alpha, lower, unit_diagonal, trans, right, device, strategy, accuracy, bits, full_output
        As in `solve_triangular`; `out` may be `b`, which the product replaces then.

    Returns
    -------
    c : array of the shape of b
    info : Info
        Only with `full_output`.

    Raises
    ------
    ValueError, TypeError, MemoryError, tesela.Error
        As `matmul`.
    """
    trans = _how(trans)
    triangle, others = _triangle_and_columns(a, b, trans, right)
    factor = scalar(alpha, others.seen.view.dtype, "alpha")
    result, c, in_place = _result(others, tuple(others.seen.view.shape), out, (("a", triangle.seen), ("b", others.seen)),
                                  others.seen)
    if in_place:
        _resolved(others.seen, "b")
    info = _multiply(triangle, UNIT_TRIANGULAR if unit_diagonal else TRIANGULAR, _triangle(lower, trans), others, c, in_place,
                     right, factor, 0, device, strategy, ask_of(accuracy, bits, 0))
    return _finished(others.seen, result, info, out, full_output)


def symm(a: Any, b: Any, out: Any = None, *, alpha=1, beta=0, lower: bool = False, hermitian: bool = False, right: bool = False,
         device: str | None = None, strategy: str | None = None, accuracy: str | float | None = None, bits: str | None = None,
         full_output: bool = False):
    """The product alpha a b + beta out, or alpha b a + beta out, where a is symmetric and one triangle of it is read.

    Parameters
    ----------
    a : array, shape (n, n)
        On the host, float64, float32, complex64 or complex128. What lies beside its triangle is not read.
    b : array, shape (n, k); with `right` (k, n)
        Of the type of `a`.
    out : array of the shape of b, optional
        Shares no memory with `a` and `b`.
    alpha, beta : number, optional
        `beta` is the factor of what `out` held. 0 never reads it.
    lower : bool, optional
        Which triangle of `a` is read. Default: the upper one.
    hermitian : bool, optional
        The other triangle is the conjugate transpose, and of the diagonal the real parts are read.
    right : bool, optional
        `a` stands on the right.
    device, strategy, accuracy, bits, full_output : optional
        As in `matmul`.

    Returns
    -------
    c : array of the shape of b
    info : Info
        Only with `full_output`.

    Raises
    ------
    ValueError, TypeError, MemoryError, tesela.Error
        As `matmul`.
    """
    left, right_side = _see_pair(a, b)
    square, others = _square(left, "a"), _matrix(right_side, "b")
    _check_sizes(square, others, right)
    kind = others.seen.view.dtype
    alpha, beta = scalar(alpha, kind, "alpha"), scalar(beta, kind, "beta")
    if beta and out is None:
        raise ValueError("beta is the factor of what out held, and there is no out")
    result, c, _ = _result(others, (others.rows, others.cols), out, (("a", square.seen), ("b", others.seen)))
    info = _multiply(square, HERMITIAN if hermitian else SYMMETRIC, LOWER if lower else UPPER, others, c, False, right, alpha,
                     beta, device, strategy, ask_of(accuracy, bits, 0))
    return _finished(others.seen, result, info, out, full_output)


def _mirror(array, n: int, conjugate: bool) -> None:
    """The upper triangle becomes the lower one's mirror image, block by block."""
    block = 256
    for first in range(0, n, block):
        end = min(n, first + block)
        for row in range(first, end):
            line = array[row + 1:end, row]
            array[row, row + 1:end] = line.conj() if conjugate else line
        below = array[end:, first:end].T
        array[first:end, end:] = below.conj() if conjugate else below


def syrk(a: Any, out: Any = None, *, alpha=1, beta=0, trans: bool = False, hermitian: bool = False, triangle: str = "both",
         device: str | None = None, strategy: str | None = None, accuracy: str | float | None = None, bits: str | None = None,
         full_output: bool = False):
    """The symmetric product alpha a a' + beta out, of which one triangle is computed: in about half the time of `matmul`.

    Parameters
    ----------
    a : array, shape (n, k)
        On the host, float64, float32, complex64 or complex128.
    out : array, shape (n, n), optional
        Shares no memory with `a`.
    alpha, beta : number, optional
        `beta` is the factor of what `out` held, of which one triangle is read: the lower one, or `triangle`.
    trans : bool, optional
        alpha a' a + beta out, of shape (k, k).
    hermitian : bool, optional
        With the conjugate transpose. `alpha` and `beta` are real then, and so is the diagonal.
    triangle : {"both", "lower", "upper"}, optional
        What of the result is written. Beside a single triangle a new array has zeros, and `out` keeps what it held.
    device, strategy, accuracy, bits, full_output : optional
        As in `matmul`.

    Returns
    -------
    c : array, shape (n, n)
    info : Info
        Only with `full_output`.

    Raises
    ------
    ValueError, TypeError, MemoryError, tesela.Error
        As `matmul`.

    Examples
    --------
    >>> import numpy, tesela
    >>> tesela.syrk(numpy.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[ 5., 11.],
           [11., 25.]])
    """
    if triangle not in ("both", "lower", "upper"):
        raise ValueError(f'triangle is {triangle!r}: "both", "lower" or "upper"')
    seen = _see(a, "a")
    kind = seen.view.dtype
    hermitian = bool(hermitian) and kind.startswith("complex")
    across = "c" if hermitian else "t"
    left, other = _matrix(seen, "a", across if trans else "n"), _matrix(seen, "a", "n" if trans else across)
    alpha, beta = scalar(alpha, kind, "alpha"), scalar(beta, kind, "beta")
    if hermitian and (alpha.imag or beta.imag):
        raise TypeError("alpha and beta of a hermitian product are real")
    if beta and out is None:
        raise ValueError("beta is the factor of what out held, and there is no out")
    n, k = left.rows, left.cols
    result, c, _ = _result(left, (n, n), out, (("a", seen),))
    if out is None and triangle != "both":
        result[...] = 0
    if n == 0:
        info = nothing_ran()
    else:
        info = _core.multiply_structured(
            n, n, k, left.operand(), other.operand(), c.operand(), alpha, beta,
            [GENERAL, WHOLE, GENERAL, WHOLE, HERMITIAN if hermitian else GENERAL, UPPER if triangle == "upper" else LOWER],
            device, strategy, ask_of(accuracy, bits, 0))
    if triangle == "both":
        _mirror(result, n, hermitian)
    return _finished(seen, result, info, out, full_output)
