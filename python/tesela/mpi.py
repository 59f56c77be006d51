"""Products of matrices that are distributed over the ranks of an mpi4py communicator, by libtesela_mpi.

>>> from mpi4py import MPI
>>> import numpy, tesela.mpi
>>> comm = MPI.COMM_WORLD                       # each rank has some rows of A and of B
>>> c = tesela.mpi.matmul(comm, a_rows, b_rows)  # and gets as many rows of C as it has of A
"""

from __future__ import annotations

import ctypes
import os
import pathlib
from typing import NamedTuple

import numpy

from . import _core
from ._types import numpy_dtype, result_type

__all__ = ["Info", "matmul"]

_TYPES = {"float64": 1, "float32": 2, "float16": 3, "bfloat16": 4, "int8": 5, "int32": 6, "complex64": 7,
          "complex128": 8, "uint8": 9, "float8_e4m3fn": 10, "float8_e5m2": 11}
_BAD_CALL, _OUT_OF_MEMORY = 1, 5
_RECTANGLES = 2


class Info(NamedTuple):
    """Report of a distributed product.

    Attributes
    ----------
    plan : str
        Process grid of the product.
    ranks : int
        Number of ranks that multiplied; other ranks only sent and received.
    words, bound : int, float
        Elements that the busiest rank received (or sent, if that is more), and elements that at least one
        rank must receive with any algorithm.
    seconds, compute, wait, move : float
        Seconds of this rank's call, and parts of it: products, waiting for messages, and moving elements
        without overlap.
    error_bound : float
        Guaranteed bound: |error| <= error_bound (|alpha| |A||B| + |beta| |C|) for each element.
    flushed_below : float
        As in `tesela.Info`.
    """

    plan: str
    ranks: int
    words: int
    bound: float
    seconds: float
    compute: float
    wait: float
    move: float
    error_bound: float
    flushed_below: float = 0.0


class _Rectangle(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64)
                for name in ("row", "col", "rows", "cols", "offset", "row_stride", "col_stride")]


class _Layout(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("grid_rows", ctypes.c_int), ("grid_cols", ctypes.c_int),
                ("reserved", ctypes.c_int), ("ranks", ctypes.c_void_p), ("row_block", ctypes.c_int64),
                ("col_block", ctypes.c_int64), ("first_row", ctypes.c_int), ("first_col", ctypes.c_int),
                ("row", ctypes.c_int64), ("col", ctypes.c_int64), ("rows", ctypes.c_int64),
                ("cols", ctypes.c_int64), ("rectangles", ctypes.POINTER(_Rectangle)),
                ("count", ctypes.c_int64)]


class _Matrix(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("buffer", ctypes.c_void_p), ("offset", ctypes.c_int64),
                ("row_stride", ctypes.c_int64), ("col_stride", ctypes.c_int64), ("transpose", ctypes.c_int),
                ("type", ctypes.c_int), ("conjugate", ctypes.c_int), ("packed", ctypes.c_void_p),
                ("shards", ctypes.c_void_p)]


class _Result(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("buffer", ctypes.c_void_p), ("offset", ctypes.c_int64),
                ("row_stride", ctypes.c_int64), ("col_stride", ctypes.c_int64), ("transpose", ctypes.c_int),
                ("type", ctypes.c_int), ("reserved", ctypes.c_int), ("shards", ctypes.c_void_p)]


class _Structures(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int)
                for name in ("a", "a_triangle", "b", "b_triangle", "c", "c_triangle", "in_place")]


class _Options(ctypes.Structure):
    _fields_ = [("device", ctypes.c_char_p), ("strategy", ctypes.c_char_p), ("accuracy", ctypes.c_char_p),
                ("reproducibility", ctypes.c_char_p), ("expected_runs", ctypes.c_int64),
                ("tuning_seconds", ctypes.c_double), ("measure_error", ctypes.c_uint64),
                ("verify", ctypes.c_char_p)]


class _Gemm(ctypes.Structure):
    _fields_ = [("m", ctypes.c_int64), ("n", ctypes.c_int64), ("k", ctypes.c_int64), ("a", _Matrix),
                ("b", _Matrix), ("c", _Result), ("alpha", ctypes.c_void_p), ("beta", ctypes.c_void_p),
                ("structure", _Structures), ("epilogue", ctypes.c_void_p), ("options", _Options)]


class _Desc(ctypes.Structure):
    _fields_ = [("gemm", ctypes.POINTER(_Gemm)), ("a", _Layout), ("b", _Layout), ("c", _Layout),
                ("memory", ctypes.c_int64)]


class _Record(ctypes.Structure):
    _fields_ = [("plan", ctypes.c_char * 256), ("ranks", ctypes.c_int), ("depth", ctypes.c_int),
                ("slabs", ctypes.c_int), ("steps", ctypes.c_int), ("words", ctypes.c_int64),
                ("words_all", ctypes.c_int64), ("bound", ctypes.c_double), ("seconds", ctypes.c_double),
                ("compute", ctypes.c_double), ("wait", ctypes.c_double), ("move", ctypes.c_double),
                ("error_bound", ctypes.c_double), ("flushed_below", ctypes.c_double)]


_loaded = None


def _library():
    """Loads libtesela_mpi (TESELA_MPI, else the package's or the system's) with the package's libtesela."""
    global _loaded
    if _loaded is None:
        beside = pathlib.Path(__file__).parent / "lib" / "libtesela_mpi.so.2"
        name = os.environ.get("TESELA_MPI") or (str(beside) if beside.exists() else "libtesela_mpi.so.2")
        try:
            library = ctypes.CDLL(name)
        except OSError as why:
            raise ImportError(f"libtesela_mpi is not there ({why}): it is built where CMake finds MPI, "
                              "and TESELA_MPI may name it") from None
        library.tesela_last_error.restype = ctypes.c_char_p
        library.tesela_mpi_gemm_sized.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(_Desc),
                                                  ctypes.POINTER(_Record), ctypes.c_size_t, ctypes.c_size_t,
                                                  ctypes.c_size_t]
        _loaded = library
    return _loaded


def _handle(library, comm):
    """Returns the C handle of the communicator, from its Fortran number, which all MPIs have."""
    number = comm.py2f()
    to_c = getattr(library, "MPI_Comm_f2c", None)  # MPICH's handles are these numbers
    if to_c is None:
        return number
    to_c.restype = ctypes.c_void_p
    return to_c(ctypes.c_int(number))


def _checked(array, name):
    """Checks an array and returns its strides in elements."""
    if not isinstance(array, numpy.ndarray):
        raise TypeError(f"{name} is a {type(array).__name__}; tesela.mpi takes NumPy's arrays")
    if array.ndim != 2:
        raise ValueError(f"{name} has {array.ndim} dimensions; a matrix has two")
    if array.dtype.name not in _TYPES or not array.dtype.isnative:
        raise TypeError(f"{name} is of {array.dtype}; possible are {', '.join(_TYPES)}")
    if any(stride % array.itemsize for stride in array.strides):
        raise ValueError(f"{name}: its strides are not multiples of an element; copy() makes an array of it")
    return [stride // array.itemsize for stride in array.strides]


class _Given(NamedTuple):
    """Arguments that ranks exchange before they call the library."""

    why: str | None
    kind: type | None = None
    shapes: tuple = ()
    at: tuple = ()
    names: tuple = ()
    dtype: str | None = None


def _look(a, b, out, at, dtype):
    for array, name in ((a, "a"), (b, "b")) + (((out, "out"),) if out is not None else ()):
        _checked(array, name)
    if out is not None and not out.flags.writeable:
        raise ValueError("out is read-only")
    if out is None and (at[0] is not None or at[2] is not None):
        raise ValueError("out is needed if a_at or out_at is given: the distribution of C is "
                         "unknown otherwise")
    result = result_type(a.dtype.name, b.dtype.name, dtype or (out.dtype.name if out is not None else None))
    if out is not None and out.dtype.name != result:
        raise TypeError(f"out is of {out.dtype}, and the product of {result}")
    shapes = (a.shape, b.shape, out.shape if out is not None else None)
    return _Given(None, None, shapes, tuple(at), (a.dtype.name, b.dtype.name, result), dtype)


def _agree(comm, look):
    """Returns the arguments of all ranks. An error on one rank is raised on all."""
    try:
        own = look()
    except (TypeError, ValueError, ImportError) as why:
        own = _Given(str(why), type(why))
    everyone = comm.allgather(own)
    for rank, given in enumerate(everyone):
        if given.why is not None:
            raise given.kind(f"rank {rank}: {given.why}")
    for rank, given in enumerate(everyone):
        if given.names != everyone[0].names:
            raise TypeError(f"rank {rank}: its arrays are of {', '.join(given.names)}, those of rank 0 of "
                            f"{', '.join(everyone[0].names)}")
        if [place is None for place in given.at] != [place is None for place in everyone[0].at]:
            raise ValueError(f"rank {rank}: it says other places than rank 0: a_at, b_at and out_at are "
                             "given on all ranks or on none")
        if (given.shapes[2] is None) != (everyone[0].shapes[2] is None):
            raise ValueError(f"rank {rank}: out is given on all ranks or on none")
    return everyone


def _places(everyone, operand):
    """Returns the first row and column of each rank's part of an operand, and the operand's shape."""
    shapes = [given.shapes[operand] for given in everyone]
    if everyone[0].at[operand] is not None:
        places = [tuple(int(number) for number in given.at[operand]) for given in everyone]
        parts = list(zip(places, shapes))
        # Empty parts count only if all are empty: a matrix of 6 x 0 has 6 rows.
        parts = [part for part in parts if part[1][0] and part[1][1]] or parts
        ends = [(row + rows, col + cols) for (row, col), (rows, cols) in parts]
        return places, (max(end[0] for end in ends), max(end[1] for end in ends))
    before, places = 0, []
    for rows, _ in shapes:
        places.append((before, 0))
        before += rows
    widths = {cols for rows, cols in shapes if rows} or {shapes[0][1]}
    if len(widths) > 1:
        raise ValueError(f"{'ab'[operand] if operand < 2 else 'out'} has "
                         f"{' and '.join(map(str, sorted(widths)))} columns on different ranks")
    return places, (before, widths.pop())


def _layout(place, array, name):
    strides = _checked(array, name)
    rectangle = _Rectangle(place[0], place[1], array.shape[0], array.shape[1], 0, *strides)
    return _Layout(kind=_RECTANGLES, rectangles=ctypes.pointer(rectangle), count=1 if array.size else 0)


def _factor(value, is_complex, name):
    value = complex(value)
    if value.imag and not is_complex:
        raise TypeError(f"{name} is complex, and the product is real")
    return (ctypes.c_double * 2)(value.real, value.imag)


def matmul(comm, a, b, out=None, *, a_at=None, b_at=None, out_at=None, alpha=1, beta=0, dtype=None,
           device=None, strategy=None, memory=0, full_output=False):
    """Computes C = alpha A B + beta C, of which each rank has a part. All ranks of the communicator call it.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        Communicator of the MPI for which libtesela_mpi was built.
    a, b : numpy.ndarray
        This rank's part of A and of B, with any strides. A part has all columns and consecutive rows, in the
        order of the ranks; some ranks may have no rows.
    out : numpy.ndarray, optional
        Array for this rank's part of C. Default: a new array, with the rows of C of this rank's rows of A.
    a_at, b_at, out_at : (int, int), optional
        First row and column of this rank's part in the whole matrix, if it is not as above. The parts of all
        ranks cover the matrix, each element once.
    alpha, beta : number
        If beta is not 0, out holds the parts of C.
    dtype : str, optional
        Type of C, as in tesela.matmul().
    device, strategy : str, optional
        Device and strategy of this rank's local products.
    memory : int
        Maximum bytes that a rank may allocate, in addition to its parts; 0: half of the free memory.
    full_output : bool
        Return (c, Info) instead of c.

    Returns
    -------
    c : numpy.ndarray
        This rank's part of C.

    Raises
    ------
    ValueError, TypeError, MemoryError, tesela.Error, ImportError
        Raised on all ranks, with the number of the lowest rank that failed. C is unchanged, unless the
        message says that it is lost.
    """
    at = (a_at, b_at, out_at)

    def look():
        _library()
        given = _look(a, b, out, at, dtype)
        _factor(alpha, given.names[2].startswith("complex"), "alpha")
        _factor(beta, given.names[2].startswith("complex"), "beta")
        if beta != 0 and out is None:
            raise ValueError("beta is the factor of out, but out is not given")
        return given

    everyone = _agree(comm, look)
    library, rank, names = _library(), comm.rank, everyone[0].names
    a_places, (m, k) = _places(everyone, 0)
    b_places, (inner, n) = _places(everyone, 1)
    if k != inner:
        raise ValueError(f"A is {m} x {k} and B is {inner} x {n}: the inner sizes differ")
    if out is None:
        out = numpy.empty((a.shape[0], n), numpy_dtype(names[2]))
        out_places, shape = a_places, (m, n)
    else:
        out_places, shape = _places(everyone, 2)
    if tuple(shape) != (m, n):
        raise ValueError(f"out is {shape[0]} x {shape[1]} on all ranks together, and the product {m} x {n}")
    is_complex = names[2].startswith("complex")
    factors = [_factor(alpha, is_complex, "alpha"), _factor(beta, is_complex, "beta")]
    gemm = _Gemm(m=m, n=n, k=k, alpha=ctypes.addressof(factors[0]), beta=ctypes.addressof(factors[1]),
                 options=_Options(device=device.encode() if device else None,
                                  strategy=strategy.encode() if strategy else None))
    for matrix, array, name in zip((gemm.a, gemm.b, gemm.c), (a, b, out), names):
        matrix.data, matrix.type = array.ctypes.data if array.size else None, _TYPES[name]
    desc = _Desc(ctypes.pointer(gemm), _layout(a_places[rank], a, "a"), _layout(b_places[rank], b, "b"),
                 _layout(out_places[rank], out, "out"), memory)
    record = _Record()
    status = library.tesela_mpi_gemm_sized(_handle(library, comm), None, ctypes.byref(desc),
                                           ctypes.byref(record), ctypes.sizeof(desc), ctypes.sizeof(gemm),
                                           ctypes.sizeof(record))
    if status != 0:
        sentence = library.tesela_last_error().decode(errors="replace")
        raise {_BAD_CALL: ValueError, _OUT_OF_MEMORY: MemoryError}.get(status, _core.Error)(sentence)
    if not full_output:
        return out
    return out, Info(record.plan.decode(), record.ranks, record.words, record.bound, record.seconds,
                     record.compute, record.wait, record.move, record.error_bound, record.flushed_below)
