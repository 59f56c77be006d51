"""Element types: what they are called, and which of them go together."""

from __future__ import annotations

import numpy

#: Types of A and B, and of C: the first is the default.
PRODUCTS = {
    ("float64", "float64"): ("float64",),
    ("float32", "float32"): ("float32",),
    ("complex64", "complex64"): ("complex64",),
    ("complex128", "complex128"): ("complex128",),
    ("float16", "float16"): ("float16", "float32"),
    ("bfloat16", "bfloat16"): ("bfloat16", "float32"),
    ("int8", "int8"): ("int32",),
    ("uint8", "int8"): ("int32",),
    ("int8", "uint8"): ("int32",),
    ("uint8", "uint8"): ("int32",),
}
#: 8-bit floating point, in any mix; of products alone.
EIGHTS = ("float8_e4m3fn", "float8_e5m2")
PRODUCTS |= {(a, b): ("float32", "bfloat16", "float16") for a in EIGHTS for b in EIGHTS}
#: With scales: sums in float32 and of 8-bit integers come to any of these.
SCALED = {pair: {"bfloat16": ("bfloat16", "float32", "float16"), "float16": ("float16", "float32", "bfloat16")}.get(
    results[0], ("float32", "bfloat16", "float16"))
    for pair, results in PRODUCTS.items() if not pair[0].startswith("complex") and pair[0] != "float64"}
#: The same of dots' x, y and result.
DOTS = {pair: results for pair, results in PRODUCTS.items() if not pair[0].startswith(("complex", "float8"))}
#: What can be transposed, and scaled.
TRANSPOSES = ("float64", "float32", "float16", "bfloat16", "complex64", "complex128", "int8", "uint8", "int32",
              *EIGHTS)

_POSSIBLE = (
    "possible are float64, float32, complex64 and complex128 with their own type, float16 and bfloat16 with their own type "
    "(to that or to float32), int8 or uint8 with either (to int32), and float8_e4m3fn or float8_e5m2 with either (to float32, "
    "bfloat16 or float16)"
)


def result_type(a: str, b: str, dtype: str | None, table=PRODUCTS) -> str:
    """The type of the result for operands of these types; `dtype` is what the caller wants, if anything."""
    results = table.get((a, b))
    if results is None and table is SCALED and (a, b) in PRODUCTS:
        raise TypeError(f"products of {a} and {b} have no scales: sums in float32 and of 8-bit integers have them")
    if results is None:
        what = "products" if table is not DOTS else "dot products"
        possible = _POSSIBLE if table is not DOTS else _POSSIBLE.replace(", complex64 and complex128", "").replace(
            "float64, float32", "float64 and float32")
        raise TypeError(f"tesela has no {what} of {a} and {b}: {possible}; astype() converts an array")
    if dtype is None:
        return results[0]
    if dtype not in results:
        raise TypeError(f"a product of {a} and {b} is {' or '.join(results)}, not {dtype}")
    return dtype


def numpy_dtype(name: str) -> numpy.dtype:
    """NumPy's type of this name; bfloat16 and 8-bit floating point are those of ml_dtypes."""
    if name == "bfloat16" or name in EIGHTS:
        try:
            import ml_dtypes
        except ImportError:
            raise TypeError(f"NumPy has no {name} of its own: install ml_dtypes") from None
        return numpy.dtype(getattr(ml_dtypes, name))
    return numpy.dtype(name)


def type_name(dtype) -> str | None:
    """What tesela calls a type that was given in any library's way; None for None."""
    if dtype is None or isinstance(dtype, str):
        return dtype
    text = str(dtype)
    if text.startswith("torch."):
        return text[len("torch."):]
    return numpy.dtype(dtype).name
