"""Records of calls."""

from __future__ import annotations

import math
import threading
from typing import NamedTuple


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
    note : str
        A sentence where the run did not go as planned: a device that failed, and which one does its part. Else empty.
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
    note: str = ""

    def __repr__(self) -> str:
        """A line with the verdict: what ran, the bound of its error, and the error where it was measured."""
        if not self.plan:
            return "<tesela.Info: nothing ran, there is nothing to compute>"
        words = self.plan.split()
        device = next((word[len("device="):] for word in words if word.startswith("device=")), "a device")
        bound = ("its error has no bound here" if math.isnan(self.error_bound) else
                 f"its error is at most {self.error_bound:.2g} times abs(a) abs(b)")
        verdict = "not measured"
        if self.measured_rows:
            right = "right" if self.error_measured <= self.error_bound else "wrong"
            verdict = f"measured {self.error_measured:.2g} on {self.measured_rows} x {self.measured_cols} elements: {right}"
        note = f"; {self.note}" if self.note else ""
        return f"<tesela.Info: {' '.join(words[:2])} on {device} in {self.seconds:.3g} s; {bound}, {verdict}{note}>"


def is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
