"""What is computed, and what came of it: operands as matrices, how a product ends, and its record."""

from __future__ import annotations

from typing import NamedTuple

from . import _core
from ._libraries import Seen


class Info(NamedTuple):
    """What ran.

    Attributes
    ----------
    plan : str
        The plan, as a line that `tesela` reads.
    seconds : float
        Wall clock of the call in the library, in seconds. Where the work was only queued (on a device, on the caller's
        stream), the time to queue it.
    error_bound : float
        Each element's error is at most this times (abs(alpha) abs(A) abs(B) + abs(beta) abs(C) + abs(bias)), element by element.
    seconds_allocate, seconds_copy_in, seconds_compute, seconds_copy_out : float
        Parts of `seconds`.
    flushed_below : float
        What each factor may count as off by, beside: 0 but on matrix units, which cut sums as if f16 and bf16 had no subnormal numbers, or
        take smaller magnitudes as 0. It adds flushed_below (abs(alpha) k (max abs(A) + max abs(B) + 2) + abs(beta) + 2) to the error.
    error_measured : float
        Where `measure_error` asked for it, the largest error seen, in the unit of `error_bound`.
    measured_rows, measured_cols : int
        What that rests on: elements where so many rows and columns meet; 0 where nothing was measured.
    seconds_measure : float
        What measuring took, beside `seconds`.
    """

    plan: str
    seconds: float
    error_bound: float
    seconds_allocate: float = 0.0
    seconds_copy_in: float = 0.0
    seconds_compute: float = 0.0
    seconds_copy_out: float = 0.0
    flushed_below: float = 0.0
    error_measured: float = 0.0
    measured_rows: int = 0
    measured_cols: int = 0
    seconds_measure: float = 0.0


def info_of(record: tuple) -> Info:
    plan, seconds, allocate, copy_in, compute, copy_out, bound, *others = record
    return Info(plan, seconds, bound, allocate, copy_in, compute, copy_out, *others)


def nothing_ran() -> Info:
    return Info("", 0.0, 0.0)


class Matrices(NamedTuple):
    """An operand as matrices: rows x cols, at even distances along each dimension of a batch. All strides in elements."""

    seen: Seen
    offset: int
    row_stride: int
    col_stride: int
    steps: tuple
    conjugate: bool = False

    def operand(self, offset: int = 0):
        return _core.operand(self.seen.view, self.offset + offset, self.row_stride, self.col_stride, self.conjugate)


# The public header's numbers.
NO_BIAS, ROW, COLUMN = range(3)
ACTIVATIONS = (None, "relu", "gelu", "gelu_tanh")
NO_SCALE, TENSOR, LINES = range(3)


class Finish(NamedTuple):
    """What a product ends with: what scales it, a vector that is added, and a function."""

    bias: Matrices | None = None
    along: int = NO_BIAS
    activation: int = 0
    scale_a: Matrices | None = None
    scaling_a: int = NO_SCALE
    scale_b: Matrices | None = None
    scaling_b: int = NO_SCALE

    def core(self, row: int = 0):
        """Of the rows of C from this one on."""
        def vector(matrices, goes_on):
            return None if matrices is None else matrices.operand(row * matrices.row_stride if goes_on else 0)
        return _core.finish(vector(self.bias, self.along == COLUMN), self.along, self.activation,
                            vector(self.scale_a, self.scaling_a == LINES), self.scaling_a,
                            vector(self.scale_b, False), self.scaling_b)

    def lies(self) -> tuple:
        """All that a plan is made for."""
        def words(matrices):
            return matrices and (matrices.seen.view.dtype, matrices.row_stride)
        return (words(self.bias), self.along, self.activation, words(self.scale_a), self.scaling_a, words(self.scale_b),
                self.scaling_b)


class Problem(NamedTuple):
    m: int
    n: int
    k: int
    batch: tuple
    a: Matrices
    b: Matrices
    c: Matrices
    finish: Finish = Finish()
