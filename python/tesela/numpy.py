"""NumPy's products by tesela in this process.

>>> import tesela.numpy
>>> with tesela.numpy.patch():
...     c = a @ b
"""

from __future__ import annotations

import functools
import sys
import threading
import warnings
from typing import Any, Callable, NamedTuple

import numpy

from . import _core
from ._contract import Expression, Operands, contract, parse, read_operands, tensordot_of
from ._types import guarantee_texts

__all__ = ["Calls", "Patch", "patch", "report", "unpatch"]

#: Types that tesela multiplies with NumPy's result types.
TYPES = frozenset(map(numpy.dtype, ("float16", "float32", "float64", "complex64", "complex128")))
#: Multiply-adds below which dot calls NumPy's function at once; as MIN_VOLUME in loops.cpp.
SMALL_WORK = 40 * 40 * 40
#: Multiply-adds from which a contraction by products is faster than NumPy's einsum without `optimize`.
EINSUM_WORK = 1 << 16

#: Reasons to leave a product to NumPy although a guarantee was asked for.
SUBCLASS, LAYOUT = "no array, or an array of a subclass", "an out of another layout"
KEYWORDS, PATH = "out, dtype, order or casting", "a path of the caller"

_lock = threading.RLock()
_patches: list[Patch] = []
_passed: dict[tuple[str, str], int] = {}
_originals: list[tuple[Any, str, Any]] = []


class Calls(NamedTuple):
    """Number of products since the first `patch` or the last `report(clear=True)`.

    Attributes
    ----------
    tesela, numpy : int
        Products of each library. A stack of matrices is one product.
    reasons : dict
        Number of NumPy's products for each function and reason.
    refusal : str
        Message of tesela's last refusal; else empty.
    """

    tesela: int
    numpy: int
    reasons: dict[tuple[str, str], int]
    refusal: str

    def __str__(self) -> str:
        lines = [f"tesela {self.tesela}", f"NumPy {self.numpy}"]
        lines += [f"  {count:8} {name}: {why}" for (name, why), count in sorted(self.reasons.items())]
        if self.refusal:
            lines.append(f"  last refusal: {self.refusal}")
        return "\n".join(lines)


class Patch:
    """Active patch, until it is given to `unpatch` or its `with` block ends."""

    def __init__(self, settings: tuple[str, str, str, bool]):
        self.settings = settings

    def __enter__(self) -> Patch:
        return self

    def __exit__(self, *_) -> None:
        unpatch(self)


def patch(*, device: str | None = "cpu", accuracy: str | float | None = None, bits: str | None = None,
          everything: bool = False) -> Patch:
    """Makes NumPy's products use tesela in this process, in all threads, until `unpatch`.

    Products are `@`, `matmul`, `dot`, `inner`, `vdot`, `tensordot`, `einsum` and `linalg.multi_dot`. Results
    have NumPy's types and shapes. tesela computes where it is expected to be faster. Patches nest: the newest
    one holds.

    Parameters
    ----------
    device : str, optional
        As in `tesela.matmul`. "auto" also uses a GPU for large products, where that is faster. None: the
        device of `tesela.configure`.
    accuracy : str or float, optional
    bits : str, optional
        Guarantees as in `tesela.matmul`. tesela then computes all products of floating point. NumPy computes
        a product that tesela cannot compute, with a RuntimeWarning.
    everything : bool, optional
        True: tesela also computes products for which NumPy is expected to be faster.

    Returns
    -------
    patch : Patch
        Context manager that ends this patch.

    Raises
    ------
    ValueError
        Unknown words and devices.
    tesela.Error
        A guarantee that no product of float64 has.
    """
    accuracy, bits, _ = guarantee_texts(accuracy, bits)
    sample = numpy.ones((2, 2))
    _core.matmul(sample, sample, device=device, accuracy=accuracy or None, bits=bits or None)
    made = Patch((device or "", accuracy, bits, bool(everything or accuracy or bits)))
    with _lock:
        if not _patches:
            _replace_functions()
        _patches.append(made)
        _core.set_loop_rules(made.settings)
    return made


def unpatch(patch: Patch | None = None) -> None:
    """Ends a patch. Products that other threads are computing complete.

    Parameters
    ----------
    patch : Patch, optional
        Default: the newest patch.

    Raises
    ------
    RuntimeError
        No patch is active.
    """
    with _lock:
        if patch is None:
            if not _patches:
                raise RuntimeError("no patch is active")
            _patches.pop()
        elif patch in _patches:
            _patches.remove(patch)
        _core.set_loop_rules(_patches[-1].settings if _patches else None)
        if not _patches:
            _restore_functions()


def report(clear: bool = False) -> Calls:
    """Returns the numbers of products, by library and reason.

    Parameters
    ----------
    clear : bool, optional
        True: counting begins again.

    Returns
    -------
    calls : Calls
        `print` displays it as a table.
    """
    with _lock:
        counts, refusal = _core.loop_counts()
        taken = counts.pop("tesela")
        reasons = {("matmul", why): count for why, count in counts.items() if count} | _passed
        if clear:
            _core.clear_loop_counts()
            _passed.clear()
    return Calls(taken, sum(reasons.values()), reasons, refusal)


# --- functions of Python ---
# Each one calls numpy.matmul, whose loops are tesela's, or NumPy's function.

def _pass(name: str, why: str) -> None:
    """Counts a call of NumPy's function, and warns if a guarantee was asked for."""
    with _lock:
        _passed[name, why] = _passed.get((name, why), 0) + 1
        _, accuracy, bits, _ = _patches[-1].settings if _patches else ("", "", "", False)
    if why in (SUBCLASS, LAYOUT, KEYWORDS, PATH) and (accuracy or bits):
        warnings.warn(f"NumPy computes {name} without the guarantee that tesela.numpy.patch() was asked for: "
                      f"{why}", RuntimeWarning, stacklevel=3)


def _why_numpy(*arrays) -> str | None:
    """Returns the reason to leave arrays to NumPy; None: there is none."""
    for array in arrays:
        if type(array) is not numpy.ndarray:
            return SUBCLASS
    dtype = arrays[0].dtype
    for array in arrays:
        if array.dtype != dtype or array.dtype not in TYPES:
            return "a type that tesela would change or does not have"
        if array.ndim == 0:
            return "a number"
    return None


def _takes_all() -> bool:
    active = _patches[-1:]
    return bool(active) and active[0].settings[3]


def _is_stack(a, b, b_axis: int) -> bool:
    """Returns True if products of the last axis of a and an axis of b are all in one product of matrices."""
    return b.ndim <= 2 and a.shape[-1] == b.shape[b_axis] and (
        (a.ndim > 1 and b.ndim > 1) or _takes_all())


def _make_dot(original: Callable) -> Callable:
    @functools.wraps(original)
    def dot(a, b, out=None):
        why = _why_numpy(a, b)
        if why is None and out is not None and not (
                type(out) is numpy.ndarray and out.dtype == a.dtype and out.flags.carray
                and out.shape == (*a.shape[:-1], *b.shape[1:])):
            why = LAYOUT
        if why is None:
            b_axis = max(b.ndim - 2, 0)
            if a.size * b.shape[-1] < SMALL_WORK and not _takes_all():
                why = "small"
            elif _is_stack(a, b, b_axis):
                result = numpy.matmul(a, b) if out is None else numpy.matmul(a, b, out=out)
                return result if result.ndim else result[()]
            elif b.ndim > 2 and out is None and a.shape[-1] == b.shape[b_axis]:
                return tensordot_of(a, b, (-1, b_axis), numpy.matmul, {})
            else:
                why = "a vector"
        _pass("dot", why)
        return original(a, b) if out is None else original(a, b, out=out)

    return dot


def _make_inner(original: Callable) -> Callable:
    @functools.wraps(original)
    def inner(a, b, /):
        why = _why_numpy(a, b)
        if why is None:
            if _is_stack(a, b, -1):
                return numpy.matmul(a, b.T)
            if b.ndim > 2 and a.shape[-1] == b.shape[-1]:
                return tensordot_of(a, b, (-1, -1), numpy.matmul, {})
            why = "a vector"
        _pass("inner", why)
        return original(a, b)

    return inner


def _make_vdot(original: Callable) -> Callable:
    @functools.wraps(original)
    def vdot(a, b, /):
        why = _why_numpy(a, b) or (None if _takes_all() and a.size == b.size else "a vector")
        if why is None:
            return numpy.matmul(a.ravel().conj(), b.ravel())
        _pass("vdot", why)
        return original(a, b)

    return vdot


def _expression_for_products(operands: tuple, optimize) -> tuple[Expression, list] | str:
    """Returns a parsed einsum with its arrays, or the reason to leave it to NumPy."""
    try:
        text, arrays = read_operands(operands)
        why = _why_numpy(*arrays) if len(arrays) > 1 else "a single operand"
        if why:
            return why
        expression = parse(text, tuple(array.shape for array in arrays), bool(optimize))
    except (TypeError, ValueError):
        return "an expression for NumPy's messages"
    work = 1
    for size in expression.sizes.values():
        work *= size
    if not set(expression.sizes).difference(expression.output):
        return "no sums"
    if work < EINSUM_WORK and not _takes_all():
        return "small"
    return expression, arrays


def _make_einsum(original: Callable) -> Callable:
    @functools.wraps(original)
    def einsum(*operands, out=None, optimize=False, **kwargs):
        found = (KEYWORDS if out is not None or kwargs else
                 PATH if not isinstance(optimize, bool) and str(optimize) not in ("greedy", "optimal") else
                 _expression_for_products(operands, optimize))
        if isinstance(found, str):
            _pass("einsum", found)
            if out is not None:
                kwargs["out"] = out
            return original(*operands, optimize=optimize, **kwargs)
        expression, arrays = found
        result = contract(Operands(arrays, numpy.matmul, {}), expression)
        return result if optimize or result.ndim > 0 else result[()]

    return einsum


_MAKERS = {"dot": _make_dot, "inner": _make_inner, "vdot": _make_vdot, "einsum": _make_einsum}


def _replace_functions() -> None:
    """Replaces the functions in all modules of NumPy that have them. tensordot and multi_dot call dot."""
    for name, make in _MAKERS.items():
        original = getattr(numpy, name)
        made = make(original)
        for module in [module for key, module in sorted(sys.modules.items())
                       if key.partition(".")[0] == "numpy" and module is not None]:
            if vars(module).get(name) is original:
                setattr(module, name, made)
                _originals.append((module, name, original))


def _restore_functions() -> None:
    while _originals:
        setattr(*_originals.pop())
