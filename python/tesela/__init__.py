"""Matrix multiplication for arrays of NumPy, PyTorch, CuPy and JAX, on every processor of a machine.

>>> import numpy, tesela
>>> a, b = numpy.ones((300, 200)), numpy.ones((200, 100))
>>> c = tesela.matmul(a, b)
"""

from __future__ import annotations

import os as _os
from typing import NamedTuple

from . import _core
from ._core import (Error, NoDevice, Packed, Plan, dot, gemm, matmul, matmul_grouped, solve_triangular, symm,
                    syrk, transpose, trmm)
from ._contract import einsum, inner, outer, tensordot, vecdot
from ._problem import Info
from ._tool import Check, Exploration, Explanation, Report, Trace, check, explain, explore, trace, tune
from . import lab, linalg

__all__ = ["Check", "Device", "Error", "Exploration", "Explanation", "Info", "NoDevice", "Packed", "Plan",
           "Report", "Trace", "check", "configure", "devices", "dot", "einsum", "explain", "explore", "gemm",
           "inner", "matmul", "matmul_grouped", "outer", "solve_triangular", "symm", "syrk",
           "tensordot", "trace", "transpose", "trmm", "tune", "vecdot"]
__version__ = _core.version()


class Device(NamedTuple):
    """Device in the list of `devices`.

    Attributes
    ----------
    name : str
        Value for `device=`: "cpu", "opencl:0", "cuda:0".
    label, platform : str
        Names of the device and of its driver.
    memory_bytes, local_bytes : int
        Bytes of memory that the device can address, and of local (shared) memory of a work-group.
    compute_units, clock_mhz, group_items_max : int
        Compute units, highest clock, largest work-group; 0 if unknown.
    has_f64, shares_host_memory : bool
    """

    name: str
    label: str
    platform: str
    memory_bytes: int
    local_bytes: int
    compute_units: int
    clock_mhz: int
    group_items_max: int
    has_f64: bool
    shares_host_memory: bool

    def __repr__(self) -> str:
        return (f"<tesela.Device {self.name}: {self.label}, {self.compute_units or 'unknown'} compute units, "
                f"{self.memory_bytes / 2**30:.3g} GiB{'' if self.has_f64 else ', no float64'}>")


def devices() -> list:
    """Lists the devices that tesela finds.

    Returns
    -------
    devices : list of Device
        The first is the processor. The tool (``python -m tesela devices``) also explains why a kind of device
        is missing.
    """
    return [Device(**row) for row in _core.devices()]


def configure(*, device: str | None = None, threads: int = 0) -> None:
    """Sets defaults of later calls of this process.

    Parameters
    ----------
    device : str, optional
        "cpu", "opencl:0", "cuda:0", "auto". Default: TESELA_DEVICE, else "auto".
    threads : int, optional
        Maximum number of host threads of a call. 0: TESELA_THREADS, else the processors that this process may
        run on.

    Raises
    ------
    ValueError
        The name is no device's. A device that is missing on this machine raises NoDevice in the next call.
    """
    _core.configure(device, threads)


# The child of a fork has none of the context's threads.
_os.register_at_fork(after_in_child=_core.forget_context)
