"""Element types: names and valid combinations."""

from __future__ import annotations

import functools
import logging
import numbers
import operator

import numpy

from . import _core

log = logging.getLogger("tesela")

#: 8-bit floating-point types, for products only.
EIGHTS = ("float8_e4m3fn", "float8_e5m2")
#: Types to which a product may convert its operands: floating point of the same or a larger range.
CONVERTED = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
#: Types of products with triangles.
WIDE = ("float32", "float64", "complex64", "complex128")

_POSSIBLE = ("possible are float64, float32, complex64 and complex128 with their own type; "
             "float16 and bfloat16 with their own type (result: this type or float32); "
             "int8 or uint8 with either (int32); "
             "float8_e4m3fn or float8_e5m2 with either (float32, bfloat16 or float16)")


def result_type(a: str, b: str, dtype: str | None, *, scaled: bool = False, dot: bool = False,
                asks: str = "dtype") -> str:
    """Returns the result type of operands of types a and b. dtype is the caller's choice, argument asks."""
    results = () if dot and a.startswith(("complex", "float8")) else _core.product_types(a, b, scaled)
    if not results and scaled and _core.product_types(a, b, False):
        raise TypeError(f"products of {a} and {b} have no scales: sums in float32 and of 8-bit "
                        "integers have them")
    if not results:
        what = "dot products" if dot else "products"
        possible = _POSSIBLE.replace(", complex64 and complex128", "").replace(
            "float64, float32", "float64 and float32") if dot else _POSSIBLE
        raise TypeError(f"tesela has no {what} of {a} and {b}: {possible}; astype() converts an array")
    if dtype is None:
        return results[0]
    if dtype not in results:
        raise TypeError(f"{asks} is {dtype}: a product of {a} and {b} is {' or '.join(results)}, not {dtype}")
    return dtype


def _known(name: str) -> numpy.dtype | None:
    try:
        return numpy_dtype(name)
    except TypeError:
        return None


def common_type(a: str, b: str, wanted: str | None = None) -> str | None:
    """Returns the common type of operands: NumPy's, but float64 for integers. None: there is none."""
    pair = [_known(name) for name in (a, b)]
    if any(dtype is None or dtype.kind not in "biufcV" for dtype in pair):
        return None
    try:
        integers = all(dtype.kind in "biu" for dtype in pair)
        common = numpy.dtype("float64") if integers else numpy.result_type(*pair)
        if wanted in CONVERTED and (integers
                                    or numpy.can_cast(common, numpy_dtype(wanted), "safe")):
            return wanted
    except TypeError:
        return None
    return common.name if common.name in CONVERTED else None


@functools.lru_cache(maxsize=256)
def promoted_types(a: str, b: str, wanted: str | None, scaled: bool, asks: str) -> tuple:
    """Returns the types to which a product's operands are converted, as in NumPy. Raises if none exists."""
    given = (a, b)
    bits8 = tuple("uint8" if name == "bool" else name for name in given)
    results = _core.product_types(*bits8, scaled)
    to = bits8 if results and "bool" in given else given
    if wanted not in (None, *results) or not results:
        common = common_type(*given, wanted)
        results = _core.product_types(common, common, scaled) if common else ()
        if results and wanted in (None, *results):
            to = (common, common)
    result_type(*to, wanted, scaled=scaled, asks=asks)
    return to


def promoted(a, b, wanted: str | None, scaled: bool, asks: str, names: tuple) -> tuple:
    """Returns the operands of a product, converted to types that can be multiplied."""
    to = promoted_types(a.view.dtype, b.view.dtype, wanted, scaled, asks)
    return tuple(seen if kind == seen.view.dtype else seen.library.convert(seen, name, kind)
                 for seen, name, kind in zip((a, b), names, to))


def promoted_triangles(a, b) -> tuple:
    """Returns a structured matrix and its factor (or None), converted to one type as in NumPy."""
    given = [("a", a)] if b is None else [("a", a), ("b", b)]
    common = common_type(a.view.dtype, given[-1][1].view.dtype)
    for name, seen in given:
        if common not in WIDE:
            raise TypeError(f"{name} is {seen.view.dtype}: triangles are of {', '.join(WIDE)}")
    converted = [seen if seen.view.dtype == common else seen.library.convert(seen, name, common)
                 for name, seen in given]
    return converted[0], converted[-1]


def dot_type(a: str, b: str) -> None:
    """Raises an error that explains why vectors of these types have no dot product."""
    result_type(a, b, None, dot=True)


def number(value, name: str) -> complex:
    """Returns a factor as a complex number; accepts numbers of Python or NumPy, and arrays of one element."""
    if isinstance(value, numbers.Number) or (hasattr(value, "dtype") and getattr(value, "shape", None) == ()):
        try:
            return complex(value)
        except OverflowError:
            raise ValueError(f"{name} is beyond the range of float64") from None
        except (TypeError, ValueError):
            pass
    raise TypeError(f"{name} is {value!r}: a number is expected")


def guarantee_texts(accuracy, bits, verify=None) -> tuple[str, str, str]:
    """Returns requirements as texts; "" is the default. An empty word becomes a blank, which is refused."""
    if isinstance(accuracy, numbers.Real) and not isinstance(accuracy, bool):
        accuracy = repr(float(accuracy))
    for name, word in (("accuracy", accuracy), ("bits", bits), ("verify", verify)):
        if word is not None and not isinstance(word, str):
            raise TypeError(f"{name} is {word!r}: "
                            f"a word{' or a number' if name == 'accuracy' else ''} is expected")
    accuracy, bits, verify = ("" if word is None else word or " " for word in (accuracy, bits, verify))
    return accuracy, bits, verify


def ask_of(accuracy, bits, measure_error, verify=None):
    """Returns the requirements of a call, for the library."""
    accuracy, bits, verify = guarantee_texts(accuracy, bits, verify)
    if not hasattr(measure_error, "__index__"):
        raise TypeError(f"measure_error is {measure_error!r}: True, or a whole number is expected")
    seed = operator.index(measure_error)
    if seed < 0 or seed >= 1 << 64:
        raise ValueError(f"measure_error is {seed}: True, or a number from 1 on that draws the sample")
    return _core.Ask(accuracy, bits, seed, verify)


@functools.lru_cache(maxsize=64)
def numpy_dtype(name: str) -> numpy.dtype:
    """Returns NumPy's type of this name; bfloat16 and 8-bit floating point come from ml_dtypes."""
    if name == "bfloat16" or name in EIGHTS:
        try:
            import ml_dtypes
        except ImportError:
            raise TypeError(f"NumPy has no {name} of its own: install ml_dtypes") from None
        return numpy.dtype(getattr(ml_dtypes, name))
    return numpy.dtype(name)


def type_name(dtype) -> str | None:
    """Returns tesela's name of a type of any library; None for None."""
    if dtype is None or isinstance(dtype, str):
        return dtype
    text = str(dtype)
    if text.startswith("torch."):
        return text[len("torch."):]
    return numpy.dtype(dtype).name
