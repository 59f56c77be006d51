"""What products should be: NumPy's in float64, and how far from it a result may be."""

import ml_dtypes
import numpy

TYPES = {name: numpy.dtype(name) for name in
         ("float64", "float32", "float16", "complex64", "complex128", "int8", "uint8", "int32")}
TYPES |= {name: numpy.dtype(getattr(ml_dtypes, name))
          for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2")}
#: A, B, C
COMBINATIONS = [
    ("float64",) * 3, ("float32",) * 3, ("complex64",) * 3, ("complex128",) * 3, ("float16",) * 3,
    ("float16", "float16", "float32"), ("bfloat16",) * 3, ("bfloat16", "bfloat16", "float32"),
    ("int8", "int8", "int32"),
    ("uint8", "int8", "int32"), ("int8", "uint8", "int32"), ("uint8", "uint8", "int32"),
    ("float8_e4m3fn", "float8_e4m3fn", "float32"), ("float8_e5m2", "float8_e4m3fn", "bfloat16"),
    ("float8_e4m3fn", "float8_e5m2", "float16")]
ROUNDOFF = {"float64": 2.0**-53, "complex128": 2.0**-53, "float32": 2.0**-24, "complex64": 2.0**-24,
            "float16": 2.0**-11, "bfloat16": 2.0**-8, "int32": 0.0}


def wide(array):
    """Returns the array in the widest type, in which a sum of its products is nearly exact."""
    array = numpy.asarray(array)
    if array.dtype.kind in "iu":
        return array.astype(numpy.int64)
    return array.astype(numpy.complex128 if array.dtype.kind == "c" else numpy.float64)


def random(rng, shape, name):
    """Numbers of a type; whole and small ones where all are needed exactly."""
    if name in ("int8", "uint8"):
        return rng.integers(0 if name == "uint8" else -128, 255 if name == "uint8" else 127, shape,
                            endpoint=True).astype(name)
    numbers = rng.standard_normal(shape)
    if name.startswith("complex"):
        numbers = numbers + 1j * rng.standard_normal(shape)
    return numbers.astype(TYPES[name])


def check(result, a, b, kind, alpha=1, beta=0, before=None, bound=None):
    """Checks each element's error against `bound`; default: the bound for any order of sums."""
    result, a, b = numpy.asarray(result), numpy.asarray(a), numpy.asarray(b)
    assert result.dtype == TYPES[kind]
    expected = alpha * numpy.matmul(wide(a), wide(b))
    size = abs(alpha) * numpy.matmul(abs(wide(a)), abs(wide(b)))
    if beta:
        expected = expected + beta * wide(before)
        size = size + abs(beta) * abs(wide(before))
    assert result.shape == numpy.shape(expected)
    k = a.shape[-1]
    if bound is None:
        sums = max(ROUNDOFF["float32"], 2.0**-53) if kind in ("float16", "bfloat16") else ROUNDOFF[kind]
        bound = 3 * (k + 4) * sums + 2 * ROUNDOFF[kind]
    else:
        bound = bound + 3 * (k + 4) * 2.0**-53
    error = abs(wide(result) - expected)
    assert (error <= bound * size + (2.0**-24 if kind in ("float16",) else 1e-37)).all(), error.max()
