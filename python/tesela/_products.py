"""Products: shapes, types, broadcasting and results of matmul() and gemm()."""

from __future__ import annotations

import math
import numbers
import operator
import threading
from typing import Any, NamedTuple

import numpy

from . import _core, _gpu
from ._libraries import CUDA, NumPy, Seen, see, told_copy
from ._problem import (ACTIVATIONS, COLUMN, LINES, NO_SCALE, ROW, TENSOR, Finish, Info, Matrices, Problem, info_of,
                       nothing_ran)
from ._types import PRODUCTS, SCALED, result_type, type_name

# A product on the processor that takes longer than this many seconds is done in pieces of about as long, between which
# Ctrl-C is heard.
PATIENCE = 0.25
# Fewer multiplications than this are over long before that, on any processor.
SHORT = 1 << 31


def ask_of(accuracy, bits, measure_error):
    """What a call asks of its result, for the library."""
    if isinstance(accuracy, numbers.Real) and not isinstance(accuracy, bool):
        accuracy = repr(float(accuracy))
    for name, word in (("accuracy", accuracy), ("bits", bits)):
        if word is not None and not isinstance(word, str):
            raise TypeError(f"{name} is {word!r}: a word{' or a number' if name == 'accuracy' else ''} is expected")
    if not hasattr(measure_error, "__index__"):
        raise TypeError(f"measure_error is {measure_error!r}: True, or a whole number is expected")
    seed = operator.index(measure_error)
    if seed < 0 or seed >= 1 << 64:
        raise ValueError(f"measure_error is {seed}: True, or a number from 1 on that draws the sample")
    # An empty word is wrong, and the library says so; none is no word to it.
    return _core.Ask("" if accuracy is None else accuracy or " ", "" if bits is None else bits or " ", seed)


def matrix_strides(rows: int, cols: int, row_stride: int, col_stride: int) -> tuple:
    """Strides of a matrix, where those of dimensions of 1 are what they would be in a dense one."""
    if cols == 1:
        col_stride = 1 if row_stride != 1 or rows == 1 else rows
    if rows == 1:
        row_stride = cols if col_stride == 1 else 1
    return row_stride, col_stride


def is_repeated(seen: Seen, rows: int, cols: int, row_stride: int, col_stride: int) -> bool:
    """Whether one element stands for a whole matrix, which the library's strides cannot say."""
    return rows > 1 and cols > 1 and row_stride == 0 and col_stride == 0


def broadcast_steps(shape: tuple, strides: tuple, batch: tuple) -> tuple:
    """Strides of an operand along the dimensions of a batch: 0 where it is the same for all."""
    missing = len(batch) - len(shape)
    return (0,) * missing + tuple(
        0 if dim == 1 else stride for dim, stride in zip(shape, strides))


def as_matrices(seen: Seen, name: str, batch: tuple | None, *, column: bool = False) -> Matrices:
    """The last two dimensions are matrices; one alone is a row, or a column."""
    view = seen.view
    shape, strides = view.shape, view.strides
    if len(shape) == 1:
        shape, strides = ((shape[0], 1), (strides[0], 1)) if column else ((1, shape[0]), (1, strides[0]))
    rows, cols = shape[-2:]
    if is_repeated(seen, rows, cols, *strides[-2:]):
        told_copy(name, "all its elements are one, which the library's strides cannot say")
        return as_matrices(seen.library.compact(seen, name), name, batch, column=column)
    row_stride, col_stride = matrix_strides(rows, cols, *strides[-2:])
    steps = broadcast_steps(shape[:-2], strides[:-2], batch) if batch is not None else ()
    return Matrices(seen, 0, row_stride, col_stride, steps, seen.conjugate)


def merged(batch: tuple, *operands: Matrices) -> tuple:
    """The batch with as few dimensions as say the same, and the operands' steps along them."""
    dims: list = []
    steps: list = [[] for _ in operands]
    for index, dim in enumerate(batch):
        if dim == 1:
            continue
        if dims and all(mine[-1] == operand.steps[index] * dim for mine, operand in zip(steps, operands)):
            dims[-1] *= dim
            for mine, operand in zip(steps, operands):
                mine[-1] = operand.steps[index]
        else:
            dims.append(dim)
            for mine, operand in zip(steps, operands):
                mine.append(operand.steps[index])
    return tuple(dims), [operand._replace(steps=tuple(mine)) for operand, mine in zip(operands, steps)]


def simplified(problem: Problem) -> Problem:
    """The same with fewer products: matrices A below each other that meet one B are one matrix."""
    batch, (a, b, c) = merged(problem.batch, problem.a, problem.b, problem.c)
    m = problem.m
    if len(batch) == 1 and b.steps == (0,) and m > 0 and problem.finish.along != COLUMN and problem.finish.scaling_a != LINES:
        rows = batch[0] * m
        if a.steps[0] == m * a.row_stride or m == 1:
            if c.steps[0] == m * c.row_stride or m == 1:
                a_row = a.steps[0] if m == 1 else a.row_stride
                c_row = c.steps[0] if m == 1 else c.row_stride
                if a_row and not is_repeated(a.seen, rows, problem.k, a_row, a.col_stride):
                    a = a._replace(row_stride=a_row, steps=())
                    c = c._replace(row_stride=c_row, steps=())
                    return Problem(rows, problem.n, problem.k, (), a, b._replace(steps=()), c, problem.finish)
    return Problem(m, problem.n, problem.k, batch, a, b, c, problem.finish)


def scalar(value, dtype: str, name: str) -> complex:
    number = complex(value)
    if number.imag and not dtype.startswith("complex"):
        raise TypeError(f"{name} is complex, {number}, and the result is {dtype}")
    if dtype == "int32" and not number.real.is_integer():
        raise ValueError(f"{name} is {number.real}, and of integers it is a whole number")
    return number


def byte_range(seen: Seen) -> tuple:
    view = seen.view
    low = high = view.data
    for dim, stride in zip(view.shape, view.strides):
        if dim == 0:
            return (0, 0)
        reach = (dim - 1) * stride * view.size
        low, high = (low + reach, high) if reach < 0 else (low, high + reach)
    return low, high + view.size


def overlap(one: Seen, other: Seen) -> bool:
    if one.view.device_type != other.view.device_type or one.view.device_id != other.view.device_id:
        return False
    (low, high), (other_low, other_high) = byte_range(one), byte_range(other)
    if high <= other_low or other_high <= low or low == high or other_low == other_high:
        return False
    if isinstance(one.array, numpy.ndarray) and isinstance(other.array, numpy.ndarray):
        try:
            return numpy.shares_memory(one.array, other.array, max_work=10000)
        except Exception:  # too hard to say: NumPy's TooHardError has had several places
            return True
    return True


def has_own_elements(view) -> bool:
    """Whether no two elements are one: each dimension steps beyond all that the smaller ones reach."""
    reach = 0
    for stride, dim in sorted((abs(stride), dim) for dim, stride in zip(view.shape, view.strides) if dim > 1):
        if stride <= reach:
            return False
        reach += stride * (dim - 1)
    return True


def check_out(out: Seen, shape: tuple, inputs) -> None:
    """Whether a result may be written there. `inputs`: (name, operand) of what is read."""
    view = out.view
    if view.read_only or out.library.name == "JAX":
        raise ValueError("out is read-only")
    if view.copy or (out.array is not None and view.type and view.owner is None):
        raise ValueError(f"out cannot be written where it lies: {view.copy}")
    if tuple(view.shape) != tuple(shape):
        raise ValueError(f"out has the shape {tuple(view.shape)}, the result {tuple(shape)}")
    if 0 in shape:
        return
    if not has_own_elements(view):
        raise ValueError(f"elements of out lie on each other: its strides are {tuple(view.strides)}")
    for name, seen in inputs:
        if overlap(out, seen):
            raise ValueError(f"out and {name} share memory; copy one of them")


def see_out(out) -> Seen:
    if not isinstance(out, numpy.ndarray):
        return see(out, "out")
    return Seen(NumPy, out, _core.view(out))  # never a copy


def same_place(*arrays: tuple) -> None:
    """All arrays of a call are on one device, or all on the host."""
    (first_name, first), *others = arrays
    for name, seen in others:
        if seen.on_host != first.on_host or (not seen.on_host and seen.view.device_id != first.view.device_id):
            def place(seen):
                return "the host" if seen.on_host else f"cuda:{seen.view.device_id}"
            raise ValueError(f"{first_name} is on {place(first)} and {name} on {place(seen)}: bring them together first")


def in_pieces(problem: Problem, alpha, beta, device, strategy, ask) -> Info | None:
    """A long product on the processor, by the rows of C, all with the plan that the whole would have and so with its bits;
    Ctrl-C ends it between two pieces. None: it is short, or not of the processor."""
    m, n, k = problem.m, problem.n, problem.k
    if m * n * k < SHORT or threading.current_thread() is not threading.main_thread():
        return None
    a, b, c = problem.a, problem.b, problem.c
    plan = _core.plan(m, n, k, a.operand(), b.operand(), c.operand(), alpha, beta, device, strategy, ask,
                      problem.finish.core(), 0)
    words = plan.text.split()
    if plan.seconds < 2 * PATIENCE or "device=cpu" not in words:
        return None
    text = " ".join([words[1]] + [word for word in words[2:words.index("device=cpu")] if not word.startswith("version=")])
    height = math.ceil(m / math.ceil(plan.seconds / PATIENCE))
    if height > 64:
        height = -(-height // 64) * 64
    total = None
    for row in range(0, m, height):
        record = _core.multiply(min(height, m - row), n, k, a.operand(row * a.row_stride), b.operand(),
                                c.operand(row * c.row_stride), alpha, beta, "cpu", text, ask,
                                problem.finish.core(row))
        _core.check_signals()
        piece = info_of(record)
        total = piece if total is None else total._replace(
            error_measured=max(total.error_measured, piece.error_measured),
            **{name: getattr(total, name) + getattr(piece, name) for name in Info._fields
               if name.startswith("seconds") or name == "measured_rows"})
    return total._replace(plan=plan.text) if total else None


def compute_on_host(problem: Problem, alpha, beta, device, strategy, ask) -> Info:
    m, n, k = problem.m, problem.n, problem.k
    a, b, c = problem.a, problem.b, problem.c
    if problem.batch:
        record = _core.multiply_many(m, n, k, a.operand(), b.operand(), c.operand(), alpha, beta, device, strategy, ask,
                                     problem.finish.core(), problem.batch, a.steps, b.steps, c.steps)
        return info_of(record)
    long = in_pieces(problem, alpha, beta, device, strategy, ask)
    if long is not None:
        return long
    return info_of(_core.multiply(m, n, k, a.operand(), b.operand(), c.operand(), alpha, beta, device, strategy, ask,
                                  problem.finish.core()))


def compute(problem: Problem, alpha, beta, device, strategy, stream, ask) -> Info:
    if problem.m == 0 or problem.n == 0 or 0 in problem.batch:
        return nothing_ran()
    problem = simplified(problem)
    if problem.a.seen.on_host:
        if stream is not None:
            raise ValueError("stream is for arrays on a device; these are on the host")
        return compute_on_host(problem, alpha, beta, device, strategy, ask)
    return _gpu.compute(problem, alpha, beta, device, strategy, stream, ask)


class Given(NamedTuple):
    """A last step as it was given, with its vectors as they are seen."""

    bias: Seen | None
    activation: str | None
    scale_a: Seen | None
    scale_b: Seen | None

    def named(self) -> tuple:
        return tuple((name, seen) for name, seen in (("bias", self.bias), ("scale_a", self.scale_a), ("scale_b", self.scale_b))
                     if seen is not None)

    @property
    def scales(self) -> bool:
        return self.scale_a is not None or self.scale_b is not None


def see_scale(scale, name: str, like: Seen) -> Seen | None:
    """Numbers become float32 where `like` is."""
    if scale is None:
        return None
    is_number = isinstance(scale, (int, float, numpy.floating, numpy.integer))
    if (is_number or isinstance(scale, (list, tuple))) and like.on_host:
        return see(numpy.asarray(scale, "float32"), name)
    if not is_number:
        return see(scale, name)
    if like.library.name == "JAX":
        raise TypeError(f"{name} is a number: of JAX's arrays on a device it is an array of float32 there")
    array = like.library.empty((1,), "float32", like)
    array[...] = float(scale)
    return see(array, name)


def see_last(like: Seen, bias, activation, scale_a, scale_b) -> Given:
    given = Given(None if bias is None else see(bias, "bias"), activation, see_scale(scale_a, "scale_a", like),
                  see_scale(scale_b, "scale_b", like))
    same_place(("a", like), *given.named())
    return given


def as_scale(seen: Seen | None, name: str, shapes: tuple, length: int) -> tuple:
    """One number, or as many as there are rows or columns."""
    if seen is None:
        return None, NO_SCALE
    shape = tuple(seen.view.shape)
    if seen.view.dtype != "float32":
        raise TypeError(f"{name} is {seen.view.dtype}: scales are float32")
    if shape in ((), (1,), (1, 1)):
        return Matrices(seen, 0, 1, 1, ()), TENSOR
    if shape not in shapes:
        raise ValueError(f"{name} has the shape {shape}: of this product it is one number, or has {' or '.join(map(str, shapes))}")
    at = shape.index(length)
    if seen.view.strides[at] == 0:
        told_copy(name, "all its elements are one, which the library's strides cannot say")
        seen = seen.library.compact(seen, name)
    return Matrices(seen, 0, seen.view.strides[at], 1, ()), LINES


def as_last(given: Given, m: int, n: int, kind: str, *, turned: bool = False) -> Finish:
    last = as_finish(given.bias, given.activation, m, n, kind, turned=turned)
    scale_a, scaling_a = as_scale(given.scale_a, "scale_a", ((m,), (m, 1)), m)
    scale_b, scaling_b = as_scale(given.scale_b, "scale_b", ((n,), (1, n)), n)
    return last._replace(scale_a=scale_a, scaling_a=scaling_a, scale_b=scale_b, scaling_b=scaling_b)


def as_finish(bias: Seen | None, activation, m: int, n: int, kind: str, *, turned: bool) -> Finish:
    """A bias as NumPy would add it to matrices of m x n; `turned`: their one column is shown as a row."""
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation is {activation!r}: there are {', '.join(ACTIVATIONS[1:])}")
    if activation and kind.startswith("complex"):
        raise TypeError(f"the result is {kind}, and there is no {activation} of complex numbers")
    number = ACTIVATIONS.index(activation)
    if kind == "int32" and (bias is not None or activation):
        raise TypeError("the result is int32: integers have neither bias nor activation")
    if bias is None:
        return Finish(activation=number)
    shape = tuple(bias.view.shape)
    wanted = {(m,): COLUMN} if turned else {(n,): ROW, (m, 1): COLUMN, (1, n): ROW}
    if shape not in wanted:
        *others, last = map(str, wanted)
        raise ValueError(f"bias has the shape {shape}: of this product it has {', '.join(others) + ' or ' if others else ''}{last}")
    types = (kind, "float32") if kind in ("float16", "bfloat16") else (kind,)
    if bias.view.dtype not in types:
        raise TypeError(f"bias is {bias.view.dtype}, and the result {kind}: it is {' or '.join(types)}")
    along = wanted[shape]
    if bias.conjugate:
        told_copy("bias", "it is a conjugate that was not computed yet")
        bias = see(bias.array.conj().resolve_conj(), "bias")
    length, at = (n, len(shape) - 1) if along == ROW else (m, 0)
    if length > 1 and bias.view.strides[at] == 0:
        told_copy("bias", "all its elements are one, which the library's strides cannot say")
        bias = bias.library.compact(bias, "bias")
    return Finish(Matrices(bias, 0, bias.view.strides[at] if length > 1 else 1, 1, ()), along, number)


def multiply(a: Seen, b: Seen, out, dtype, alpha, beta, device, strategy, stream, ask, full_output, *last_step):
    """What matmul() is once its operands are views."""
    for name, seen in (("a", a), ("b", b)):
        if not seen.view.shape:
            raise ValueError(f"{name} is a scalar: matmul takes arrays of one dimension or more, and * multiplies by a scalar")
    same_place(("a", a), ("b", b))
    into = None if out is None else see_out(out)
    wanted = type_name(dtype)
    if into is not None and wanted is None:
        wanted = into.view.dtype
    ends = see_last(a, *last_step)
    kind = result_type(a.view.dtype, b.view.dtype, wanted, SCALED if ends.scales else PRODUCTS)
    if into is not None and into.view.dtype != kind:
        raise TypeError(f"out is {into.view.dtype}, and dtype says {kind}")
    alpha, beta = scalar(alpha, kind, "alpha"), scalar(beta, kind, "beta")
    if beta and into is None:
        raise ValueError("beta is the factor of what out held, and there is no out")
    a_shape, b_shape = tuple(a.view.shape), tuple(b.view.shape)
    a_matrix = a_shape if len(a_shape) > 1 else (1,) + a_shape
    b_matrix = b_shape if len(b_shape) > 1 else b_shape + (1,)
    m, k = a_matrix[-2:]
    n = b_matrix[-1]
    if b_matrix[-2] != k:
        raise ValueError(f"a is {a_shape} and b is {b_shape}: {k} columns do not meet {b_matrix[-2]} rows")
    try:
        batch = numpy.broadcast_shapes(a_matrix[:-2], b_matrix[:-2])
    except ValueError:
        raise ValueError(f"a is {a_shape} and b is {b_shape}: {a_matrix[:-2]} and {b_matrix[:-2]} do not broadcast") from None
    shape = batch + ((m,) if len(a_shape) > 1 else ()) + ((n,) if len(b_shape) > 1 else ())
    last = as_last(ends, m, n, kind, turned=len(b_shape) == 1)
    if into is not None:
        same_place(("a", a), ("out", into))
        check_out(into, shape, (("a", a), ("b", b), *ends.named()))
        result = out
    else:
        result = a.library.empty(shape, kind, a)
        into = see(result, "out") if not hasattr(result, "seen") else result.seen
    strides = tuple(into.view.strides)
    if len(a_shape) == 1:
        strides = strides[:len(batch)] + (n,) + strides[len(batch):]
    if len(b_shape) == 1:
        strides = strides + (1,)
    c = Matrices(into, 0, *matrix_strides(m, n, *strides[-2:]), strides[:-2])
    problem = Problem(m, n, k, batch, as_matrices(a, "a", batch), as_matrices(b, "b", batch, column=True), c, last)
    info = compute(problem, alpha, beta, device, strategy, stream, ask)
    if out is None:
        result = a.library.finish(result)
        if not shape and a.library is NumPy:
            result = result[()]
    return (result, info) if full_output else result


def matmul(a: Any, b: Any, out: Any = None, *, alpha=1, beta=0, dtype=None, device: str | None = None,
           strategy: str | None = None, stream: Any = None, accuracy: str | float | None = None, bits: str | None = None,
           measure_error: int = 0, full_output: bool = False, bias: Any = None, activation: str | None = None,
           scale_a: Any = None, scale_b: Any = None):
    """Matrix product alpha a b, or alpha a b + beta out, or activation(that + bias); or with scales alpha (scale_a a) (b scale_b).

    Dimensions are those of `numpy.matmul`: the last two are matrices, one alone is a row of `a` or a column of `b`, and
    what comes before broadcasts.

    Parameters
    ----------
    a : array, shape (..., m, k) or (k,)
        Of NumPy, PyTorch, CuPy, JAX or any library that speaks DLPack, or whatever `numpy.asarray` takes. Strides may
        be negative or 0.
    b : array, shape (..., k, n) or (k,)
        On the same device as `a`.
    out : array, shape (..., m, n), optional
        Where the result goes, of any strides whose elements do not lie on each other. It shares no memory with `a` and
        `b`. It may have each type that the product can be (see Notes).
    alpha : number, optional
        Factor of the product; complex only where the result is.
    beta : number, optional
        Factor of what `out` held. 0 never reads it.
    dtype : type, optional
        Type of the result, where there is a choice.
    device : str, optional
        Of arrays on the host: the device that computes, "cpu", "opencl:0", "cuda", "auto". Default: TESELA_DEVICE, else
        where the product is expected to be done first, copies included.
    strategy : str, optional
        "name key=value ..." in place of the planner's choice, e.g. "host_packed" or "register_tile tile=8".
    stream : stream or int, optional
        Of arrays on a device: the stream that the work is queued on, as the arrays' library has it. Default: that
        library's current one.
    accuracy : str or float, optional
        How right the result is to be (docs/ACCURACY.md): a number, of which and of abs(A) abs(B) no error is larger, "e4m3", "tf32",
        "bf16", "f32", "f64" or "exact". What cannot guarantee it does not run. Default: TESELA_ACCURACY.
    bits : {"any", "run", "threads", "devices"}, optional
        When the same bits are to come again. Default: TESELA_BITS.
    measure_error : bool or int, optional
        Measure the result's error, on a sample that the number draws where the result is large: `error_measured` of the info. One that
        is beyond its bound raises `tesela.Error`. Of arrays on a device it waits for the result.
    full_output : bool, optional
        Also return what ran.
    bias : array, shape (n,), (1, n) or (m, 1), optional
        What is added, as NumPy would broadcast it, to each of the products: of the type of the result, or float32 where that is
        float16 or bfloat16, and on the same device as `a`. Where `b` has one dimension, its shape is (m,).
    activation : {"relu", "gelu", "gelu_tanh"}, optional
        What is done to each element last: max(x, 0), x (1 + erf(x / sqrt(2))) / 2, or with tanh what is near that. Of real
        numbers. The error of products with scales is not measured (`measure_error`).
    scale_a : number or array, shape (m,) or (m, 1), optional
        What `a` was divided by to become narrow: one number, or one for each row. float32, on the same device as `a`. Sums of a b
        are multiplied by it in float32 and rounded once; see Notes for the types.
    scale_b : number or array, shape (n,) or (1, n), optional
        Likewise of `b` and its columns.

    Returns
    -------
    c : array, shape (..., m, n)
        `out`, or a new array of the library of `a`, on the same device, in the order of rows. Two vectors give a scalar.
    info : Info
        Only with `full_output`: `plan`, `seconds` and `error_bound` among others.

    Raises
    ------
    ValueError
        Shapes that do not meet, an `out` that cannot be written or shares memory, a device or strategy that is not there.
    TypeError
        Types that tesela does not multiply; the sentence says which it does.
    MemoryError
        Memory ran out, on the host or on a device.
    tesela.Error
        Anything else that the library says.

    Notes
    -----
    float64, float32, complex64 and complex128 multiply their own type; float16 and bfloat16 (ml_dtypes) their own, to that
    or to float32, with sums in float32; int8 and uint8 each other, to int32, where NumPy would wrap. With `scale_a` or `scale_b`
    all of them but float64 and complex numbers come to float32, float16 or bfloat16: by default to their own type, integers to float32.

    The lock of Python's threads is not held during products of 32 x 32 x 32 and more. In the main thread Ctrl-C ends a
    long product on the processor after the piece that is being done, a quarter of a second or so; `out` is then written
    in part.

    Examples
    --------
    >>> import numpy, tesela
    >>> tesela.matmul(numpy.array([[1.0, 2.0]]), numpy.array([[3.0], [4.0]]))
    array([[11.]])
    """
    return multiply(see(a, "a"), see(b, "b"), out, dtype, alpha, beta, device, strategy, stream,
                    ask_of(accuracy, bits, measure_error), full_output, bias, activation, scale_a, scale_b)


def transposed(seen: Seen, how: str, name: str) -> tuple:
    """A matrix as it takes part: its strides by rows and columns, and whether conjugated."""
    if how not in ("n", "t", "c"):
        raise ValueError(f'{name} is {how!r}: "n" is as it is, "t" transposed and "c" conjugated and transposed')
    if len(seen.view.shape) != 2:
        raise ValueError(f"gemm takes matrices, and {name[-1]} has {len(seen.view.shape)} dimensions; matmul takes others")
    if is_repeated(seen, *seen.view.shape, *seen.view.strides):
        told_copy(name[-1], "all its elements are one, which the library's strides cannot say")
        seen = seen.library.compact(seen, name[-1])
    (rows, cols), (row_stride, col_stride) = seen.view.shape, seen.view.strides
    conjugate = seen.conjugate != (how == "c" and seen.view.dtype.startswith("complex"))
    if how != "n":
        rows, cols, row_stride, col_stride = cols, rows, col_stride, row_stride
    return rows, cols, Matrices(seen, 0, *matrix_strides(rows, cols, row_stride, col_stride), (), conjugate)


def gemm(a: Any, b: Any, c: Any = None, *, alpha=1, beta=None, trans_a: str = "n", trans_b: str = "n", out: Any = None,
         dtype=None, device: str | None = None, strategy: str | None = None, stream: Any = None,
         accuracy: str | float | None = None, bits: str | None = None, measure_error: int = 0, full_output: bool = False,
         bias: Any = None, activation: str | None = None, scale_a: Any = None, scale_b: Any = None):
    """The product of BLAS: alpha op(a) op(b) + beta c, of matrices, where op may transpose.

    Parameters
    ----------
    a : array, shape (m, k), or (k, m) where it is transposed
    b : array, shape (k, n), or (n, k) where it is transposed
    c : array, shape (m, n), optional
        What is added. It is not written, unless it is `out` as well.
    alpha, beta : number, optional
        `beta` is 1 where there is a `c`.
    trans_a, trans_b : {"n", "t", "c"}, optional
        As it is, transposed, or conjugated and transposed.
    out, dtype, device, strategy, stream, accuracy, bits, measure_error, full_output, bias, activation, scale_a, scale_b : optional
        As in `matmul`; rows and columns are those of the result.

    Returns
    -------
    d : array, shape (m, n)
        `out`, or a new array.
    info : Info
        Only with `full_output`.

    Raises
    ------
    ValueError, TypeError, MemoryError, tesela.Error
        As `matmul`.
    """
    ask = ask_of(accuracy, bits, measure_error)
    left, right = see(a, "a"), see(b, "b")
    same_place(("a", left), ("b", right))
    m, k, a_matrix = transposed(left, trans_a, "trans_a")
    k_b, n, b_matrix = transposed(right, trans_b, "trans_b")
    if k != k_b:
        raise ValueError(f"op(a) is {(m, k)} and op(b) is {(k_b, n)}: {k} columns do not meet {k_b} rows")
    if beta is None:
        beta = 0 if c is None else 1
    if c is None and beta:
        raise ValueError("beta is the factor of c, and there is no c")
    wanted = type_name(dtype)
    for given in (out, c):
        if given is not None and wanted is None:
            wanted = see(given, "c").view.dtype
    ends = see_last(left, bias, activation, scale_a, scale_b)
    kind = result_type(left.view.dtype, right.view.dtype, wanted, SCALED if ends.scales else PRODUCTS)
    last = as_last(ends, m, n, kind)
    alpha, beta = scalar(alpha, kind, "alpha"), scalar(beta, kind, "beta")
    result = left.library.empty((m, n), kind, left) if out is None else out
    into = getattr(result, "seen", None) or see_out(result)
    same_place(("a", left), ("out", into))
    if into.view.dtype != kind:
        raise TypeError(f"out is {into.view.dtype}, and the result {kind}")
    if out is not None:
        check_out(into, (m, n), (("a", left), ("b", right), *ends.named()))
    if c is not None and c is not out and beta:
        added = see(c, "c")
        if tuple(added.view.shape) != (m, n) or added.view.dtype != kind:
            raise ValueError(f"c is {added.view.dtype} of shape {tuple(added.view.shape)}, the result {kind} of {(m, n)}")
        if left.library.name == "JAX" and not left.on_host:
            raise TypeError("JAX's arrays on a device cannot be added to: give gemm no c")
        result[...] = added.array
    target = Matrices(into, 0, *matrix_strides(m, n, *into.view.strides), ())
    info = compute(Problem(m, n, k, (), a_matrix, b_matrix, target, last), alpha, beta, device, strategy, stream, ask)
    if out is None:
        result = left.library.finish(result)
    return (result, info) if full_output else result
