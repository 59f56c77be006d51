"""Products of matrices in pieces on several devices. Each device computes its own part of the result.

>>> import numpy, tesela.pieces
>>> a = tesela.pieces.spread(numpy.ones((600, 200)), ["cuda:0", "cuda:1"])  # equal rows on each device
>>> b = tesela.pieces.spread(numpy.ones((200, 100)), ["cuda:0", "cuda:1"])
>>> c = tesela.pieces.matmul(a, b)                                          # equal rows of c
>>> c.numpy()[0, 0]
200.0
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy

from . import _core
from ._libraries import see
from ._core import scalar
from ._problem import Info
from ._types import ask_of, numpy_dtype, result_type, type_name

__all__ = ["Matrix", "Place", "Plan", "empty", "matmul", "of", "spread"]


class Place(NamedTuple):
    """Place of a piece: a rectangle of the matrix, on a device.

    Attributes
    ----------
    device : str
        Name, as in `tesela.devices`.
    row, col : int
        The rectangle's first row and column.
    rows, cols : int
        Size of the rectangle.
    """

    device: str
    row: int
    col: int
    rows: int
    cols: int


class Matrix:
    """Matrix in pieces, created by `empty`, `spread` or `of`. The pieces cover the matrix, each element once;
    products check this.

    Attributes
    ----------
    shape : tuple of int
    dtype : str
    places : list of Place
        Places of the pieces, in the order of creation.
    """

    def __init__(self, core, shape: tuple, dtype: str):
        self._core, self.shape, self.dtype = core, shape, dtype

    @property
    def places(self) -> list:
        return [Place(*place) for place in self._core.places()]

    @property
    def devices(self) -> list:
        """Names of the devices that hold pieces, each once."""
        return list(dict.fromkeys(place.device for place in self.places))

    def numpy(self) -> numpy.ndarray:
        """Returns the whole matrix as a new array of NumPy."""
        whole = numpy.empty(self.shape, numpy_dtype(self.dtype))
        self._core.read(_core.view(whole))
        return whole

    def write(self, array: Any) -> None:
        """Writes a matrix of the same shape and type to the pieces."""
        if self._core.read_only:
            raise ValueError("a piece of the matrix is read-only")
        self._core.write(_core.view(host_matrix(array, self.shape, self.dtype)))

    def __repr__(self) -> str:
        pieces = f"{len(self.places)} pieces on {', '.join(self.devices)}"
        return f"<tesela.pieces.Matrix {self.shape[0]} x {self.shape[1]}, {self.dtype}, {pieces}>"


def host_matrix(array: Any, shape: tuple | None, dtype: str | None) -> numpy.ndarray:
    """Returns a dense row-major matrix of NumPy."""
    given = numpy.asarray(array)
    if given.ndim != 2 or (shape is not None and given.shape != tuple(shape)):
        raise ValueError(f"the array has the shape {given.shape}: {shape or 'a matrix'} is expected")
    if dtype is not None and given.dtype != numpy_dtype(dtype):
        raise TypeError(f"the array is {given.dtype}, and the matrix {dtype}: astype() converts it")
    return numpy.ascontiguousarray(given)


def places_of(shape: tuple, places: Any) -> list:
    """Returns a list of places. Names of devices become places with equal numbers of rows."""
    places = [places] if isinstance(places, str) else list(places)
    if not places:
        raise ValueError("there are no places: names of devices, or (device, row, col, rows, "
                         "cols) of each piece, are expected")
    if not all(isinstance(place, str) for place in places):
        return [Place(device, *map(operator.index, numbers)) for device, *numbers in places]
    rows, cols = shape
    ends = [rows * i // len(places) for i in range(len(places) + 1)]
    return [Place(device, row, 0, end - row, cols) for device, row, end in zip(places, ends, ends[1:])]


def empty(shape: tuple, dtype: Any, places: Any) -> Matrix:
    """Creates a matrix in device memory with undefined elements.

    Parameters
    ----------
    shape : (int, int)
    dtype : str or dtype
    places : list of str, or list of (device, row, col, rows, cols)
        Devices, which get equal numbers of rows; or the place of each piece.

    Returns
    -------
    matrix : Matrix

    Raises
    ------
    ValueError
        A rectangle is not inside the matrix.
    TypeError
        tesela does not support the type.
    MemoryError
        Memory ran out on a device.
    tesela.Error
        A device does not exist.
    """
    shape = tuple(map(operator.index, shape))
    if len(shape) != 2 or min(shape) < 0:
        raise ValueError(f"the shape is {shape}: (rows, cols) is expected")
    name = type_name(dtype)
    core = _core.Pieces(name, *shape)
    for place in places_of(shape, places):
        check_inside(place, shape)
        core.take(*place)
    return Matrix(core, shape, name)


def check_inside(place: Place, shape: tuple) -> None:
    if (min(place[1:]) < 0 or place.row + place.rows > shape[0] or place.col + place.cols > shape[1]):
        raise ValueError(f"a piece has rows {place.row} to {place.row + place.rows} and columns {place.col} "
                         f"to {place.col + place.cols}, and the matrix is {shape[0]} x {shape[1]}")


def spread(array: Any, places: Any) -> Matrix:
    """Copies a matrix from host memory to pieces in device memory.

    Parameters
    ----------
    array : matrix of NumPy, or an argument of `numpy.asarray`
    places : as in `empty`

    Returns
    -------
    matrix : Matrix
    """
    whole = host_matrix(array, None, None)
    made = empty(whole.shape, whole.dtype.name, places)
    made.write(whole)
    return made


def of(shape: tuple, pieces: Any) -> Matrix:
    """Creates a matrix from existing arrays, which it uses in place and keeps alive.

    Parameters
    ----------
    shape : (int, int)
    pieces : list of (row, col, array)
        Matrices of one type with their first row and column: of NumPy on the host, or of PyTorch, CuPy and
        others on CUDA devices. All are row-major, or all column-major. Queued work of their libraries is
        finished before a product begins.

    Returns
    -------
    matrix : Matrix
    """
    shape = tuple(map(operator.index, shape))
    core = name = None
    for index, (row, col, array) in enumerate(pieces):
        seen = see(array, f"piece {index}")
        view = seen.view
        if view.copy or seen.conjugate or len(view.shape) != 2:
            raise ValueError(f"piece {index} is no matrix that is read where it lies"
                             f"{': ' + view.copy if view.copy else ''}")
        if core is None:
            name = view.dtype
            core = _core.Pieces(name, *shape)
        if view.dtype != name:
            raise TypeError(f"piece {index} is {view.dtype}, and the first one {name}")
        check_inside(Place("", operator.index(row), operator.index(col), *view.shape), shape)
        core.wrap(view, row, col)
    if core is None:
        raise ValueError("there are no pieces")
    return Matrix(core, shape, name)


def factor(matrix: Matrix, how: str, name: str) -> tuple:
    """Returns a factor's rows and columns after op, and its description for the library."""
    if not isinstance(matrix, Matrix):
        raise TypeError(f"{name} is a {type(matrix).__name__}: spread() makes a matrix in pieces of an "
                        "array, and of() of several")
    if how not in ("n", "t", "c"):
        raise ValueError(f'trans_{name} is {how!r}: use "n" (unchanged), "t" (transposed) or "c" (conjugated '
                         'and transposed)')
    rows, cols = matrix.shape if how == "n" else matrix.shape[::-1]
    return rows, cols, (matrix._core, how != "n", how == "c" and matrix.dtype.startswith("complex"))


def product(a, b, out, alpha, beta, trans_a, trans_b, dtype, device, strategy, ask) -> tuple:
    """Returns the library's arguments for a product, and the result matrix."""
    m, k, left = factor(a, trans_a, "a")
    k_b, n, right = factor(b, trans_b, "b")
    if k != k_b:
        raise ValueError(f"op(a) is {(m, k)} and op(b) is {(k_b, n)}: {k} columns do not match {k_b} rows")
    kind = result_type(a.dtype, b.dtype, out.dtype if out is not None and dtype is None else type_name(dtype))
    alpha, beta = scalar(alpha, kind, "alpha"), scalar(beta, kind, "beta")
    if out is None and beta:
        raise ValueError("beta is the factor of out, but out is not given")
    if out is None:
        out = empty((m, n), kind, list(dict.fromkeys(a.devices + b.devices)))
    if out.shape != (m, n) or out.dtype != kind:
        raise ValueError(f"out is {out.dtype} of shape {out.shape}, the result {kind} of {(m, n)}")
    if out is a or out is b:
        raise ValueError("out is also a or b: copy one matrix")
    if out._core.read_only:
        raise ValueError("a piece of out is read-only")
    return (*left, *right, out._core, alpha, beta, device, strategy, ask), out


def matmul(a: Matrix, b: Matrix, out: Matrix | None = None, *, alpha=1, beta=0, trans_a: str = "n",
           trans_b: str = "n", dtype=None, device: str | None = None, strategy: str | None = None,
           accuracy: str | float | None = None, bits: str | None = None, full_output: bool = False):
    """Computes alpha op(a) op(b) + beta out of matrices in pieces, on the pieces' devices.

    Each device computes its own part of the result; missing parts of the factors are copied from other
    devices meanwhile. The pieces must be on two devices or more; use `tesela.matmul` for one device.

    Parameters
    ----------
    a, b : Matrix
        Factors of shapes (m, k) and (k, n), or (k, m) and (n, k) if transposed.
    out : Matrix, optional
        Result matrix. Default: equal rows on each device that has pieces of a or b, in this order.
    alpha, beta : number, optional
    trans_a, trans_b : {"n", "t", "c"}, optional
        op: unchanged, transposed, or conjugated and transposed.
    dtype : str or dtype, optional
        Type of the result, if several are possible, as in `tesela.matmul`.
    device : str, optional
        Devices that compute, such as "cuda:0,cuda:1". Default: all devices that hold pieces.
    strategy, accuracy, bits, full_output : optional
        As in `tesela.matmul`.

    Returns
    -------
    c : Matrix
        `out`, or a new one.
    info : tesela.Info
        Only with `full_output`.

    Raises
    ------
    ValueError
        Shapes do not fit; pieces overlap or do not cover the matrix.
    tesela.Error
        Any other failure. After the status DEVICE_FAILED the content of `out` is lost.
    """
    arguments, out = product(a, b, out, alpha, beta, trans_a, trans_b, dtype, device, strategy,
                             ask_of(accuracy, bits, 0))
    if 0 in out.shape:
        info = Info("", 0.0, 0.0)
    else:
        info = _core.multiply_pieces(*arguments)
    return (out, info) if full_output else out


class Plan:
    """Plan for matrices whose pieces are in equal places: `plan = Plan(a, b, c)`, `plan(a, b, c)` repeatedly.

    Parameters
    ----------
    a, b, out : Matrix
    alpha, beta, trans_a, trans_b, device, strategy, accuracy, bits : optional
        As in `matmul`.

    Attributes
    ----------
    text : str
        The plan as a line of text.
    """

    def __init__(self, a: Matrix, b: Matrix, out: Matrix, *, alpha=1, beta=0, trans_a: str = "n",
                 trans_b: str = "n", device: str | None = None, strategy: str | None = None,
                 accuracy: str | float | None = None, bits: str | None = None):
        arguments, out = product(a, b, out, alpha, beta, trans_a, trans_b, None, device, strategy,
                                 ask_of(accuracy, bits, 0))
        if 0 in out.shape:
            raise ValueError("the result has no elements, and needs no plan")
        self._lies = [lies(matrix) for matrix in (a, b, out)]
        self._plan = _core.plan_pieces(*arguments)

    @property
    def text(self) -> str:
        return self._plan.text

    def __call__(self, a: Matrix, b: Matrix, out: Matrix) -> Matrix:
        """Runs the plan on these matrices and returns `out`."""
        for name, matrix, known in zip(("a", "b", "out"), (a, b, out), self._lies):
            if not isinstance(matrix, Matrix) or lies(matrix) != known:
                raise ValueError(f"pieces of {name} are not of the type, or in the places, "
                                 "that the plan is for")
        if out._core.read_only:
            raise ValueError("a piece of out is read-only")
        self._plan.run(a._core, b._core, out._core)
        return out


def lies(matrix: Matrix) -> tuple:
    """Returns the properties of a matrix that a plan depends on."""
    return matrix.shape, matrix.dtype, matrix._core.places(), matrix._core.strides()
