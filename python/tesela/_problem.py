"""Records of calls."""

from __future__ import annotations

import math
import threading
from typing import NamedTuple


class Info(NamedTuple):
    """Report of a call.

    Attributes
    ----------
    plan : str
        The plan, as a line that `tesela` reads.
    seconds : float
        Wall-clock seconds of the call in the library. If the work was only queued (on the caller's stream of
        a device), the seconds of queuing it.
    error_bound : float
        Guaranteed bound: each element's error is at most this number times (abs(alpha) abs(A) abs(B) +
        abs(beta) abs(C) + abs(bias)).
    seconds_allocate, seconds_copy_in, seconds_compute, seconds_copy_out : float
        Parts of `seconds`.
    flushed_below : float
        Magnitude below which matrix units treat inputs as zero or less precisely; 0 for other strategies. It
        adds flushed_below (abs(alpha) k (max abs(A) + max abs(B) + 2) + abs(beta) + 2) to the error.
    error_measured : float
        Largest measured error, in the unit of `error_bound`, if `measure_error` is set.
    measured_rows, measured_cols : int
        Number of checked rows and columns, at whose crossings errors were measured; 0 if nothing was
        measured.
    seconds_measure : float
        Seconds of the measurement, not part of `seconds`.
    note : str
        Message about a run that did not go as planned, such as a device that failed; else empty.
    verified, unverified : int
        Number of elements of the result that were verified, and that were not because of infinity or NaN, if
        `verify` is set.
    hidden_error : float
        Largest absolute error of an element that the verification may overlook; 0 for integers.
    seconds_verify : float
        Seconds of the verification, not part of `seconds`.
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
    verified: int = 0
    unverified: int = 0
    hidden_error: float = 0.0
    seconds_verify: float = 0.0

    def __repr__(self) -> str:
        """Returns a line with the plan, the bound of its error, and the measured error."""
        if not self.plan:
            return "<tesela.Info: nothing ran, there is nothing to compute>"
        words = self.plan.split()
        device = next((word[len("device="):] for word in words if word.startswith("device=")), "a device")
        bound = ("its error has no bound here" if math.isnan(self.error_bound) else
                 f"its error is at most {self.error_bound:.2g} times abs(a) abs(b)")
        verdict = "not measured"
        if self.measured_rows:
            right = "right" if self.error_measured <= self.error_bound else "wrong"
            elements = f"{self.measured_rows} x {self.measured_cols} elements"
            verdict = f"measured {self.error_measured:.2g} on {elements}: {right}"
        if self.verified:
            verdict += f", verified {self.verified} elements"
        note = f"; {self.note}" if self.note else ""
        plan = " ".join(words[:2])
        return f"<tesela.Info: {plan} on {device} in {self.seconds:.3g} s; {bound}, {verdict}{note}>"


def is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
