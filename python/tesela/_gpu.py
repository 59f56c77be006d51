"""Products of arrays on a CUDA device, queued on a stream."""

from __future__ import annotations

import itertools
import time
from typing import Any

from . import _core
from ._problem import COLUMN, LINES, NO_BIAS, ROW, Finish, Info, Problem, info_of


def handle_of(stream: Any) -> int:
    """A stream's handle: a number, or PyTorch's, CuPy's or Numba's stream."""
    if isinstance(stream, int):
        return stream
    for name in ("cuda_stream", "ptr", "handle"):
        handle = getattr(stream, name, None)
        if handle is not None:
            return int(getattr(handle, "value", handle) or 0)
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    raise TypeError(f"stream is a {type(stream).__name__}: a number or a stream of PyTorch, CuPy or Numba is expected")


def device_finish(last: Finish, m: int, n: int):
    def vector(operand, length):
        return operand and _core.device_matrix(operand.seen.view, operand.offset, length, 1, operand.row_stride, 1, operand.conjugate)

    return _core.device_finish(vector(last.bias, {NO_BIAS: 0, ROW: n, COLUMN: m}[last.along]), last.along, last.activation,
                               vector(last.scale_a, m if last.scaling_a == LINES else 1), last.scaling_a,
                               vector(last.scale_b, n if last.scaling_b == LINES else 1), last.scaling_b)


def compute(problem: Problem, alpha, beta, device, strategy, stream, ask) -> Info:
    """Queues the products; without a stream (JAX) they are complete on return."""
    m, n, k = problem.m, problem.n, problem.k
    seen = problem.a.seen
    number = seen.view.device_id
    if device is not None and device not in ("cuda", "auto", f"cuda:{number}"):
        raise ValueError(f"the arrays are on cuda:{number}, and device is {device}: arrays on a device are computed there")
    handle = seen.library.stream(seen) if stream is None else handle_of(stream)

    def matrix(operand, rows, cols, offset):
        return _core.device_matrix(operand.seen.view, operand.offset + offset, rows, cols, operand.row_stride,
                                   operand.col_stride, operand.conjugate)

    finish = device_finish(problem.finish, m, n)
    begin = time.perf_counter()
    plan, seen_errors = "", []
    for index in itertools.product(*map(range, problem.batch)):
        a, b, c = (sum(i * step for i, step in zip(index, operand.steps)) for operand in (problem.a, problem.b, problem.c))
        plan, record = _core.enqueue(m, n, k, matrix(problem.a, m, k, a), matrix(problem.b, k, n, b), matrix(problem.c, m, n, c),
                             alpha, beta, strategy, ask, number, handle, finish)
        if record is not None:
            seen_errors.append(info_of(record))
    info = Info(plan, time.perf_counter() - begin, float("nan"))
    if not ask.measure_error or not seen_errors:
        return info
    return info._replace(error_bound=max(each.error_bound for each in seen_errors),
                         error_measured=max(each.error_measured for each in seen_errors),
                         measured_rows=sum(each.measured_rows for each in seen_errors),
                         measured_cols=seen_errors[0].measured_cols,
                         seconds_measure=sum(each.seconds_measure for each in seen_errors))


def prepare(plan, a, b) -> str:
    """Makes the library's plan of a `tesela.Plan` of arrays on a device, which later calls find by what it is for. Its text."""
    m, n, k = plan.shape
    number = a.view.device_id

    def matrix(seen, key):
        return _core.device_matrix(seen.view, 0, *key[1:6])

    return _core.prepare(m, n, k, matrix(a, plan._key[0]), matrix(b, plan._key[1]), plan._kind, *plan._c_strides, plan._alpha,
                         plan._beta, plan._strategy, plan._ask, number, device_finish(plan._last, m, n))
