"""Lines that a new user types: the result, or an error message with the right form."""

import numpy
import pytest
import tesela

A, B = numpy.arange(6.0).reshape(2, 3), numpy.ones((3, 2))
BYTES = numpy.ones((3, 2), "int8")
MASKED = numpy.ma.masked_array(A, A > 2)
NAMES = {"numpy": numpy, "tesela": tesela, "a": A, "b": B, "bytes_": BYTES, "masked": MASKED}

RIGHT = {
    "tesela.matmul([[1, 2], [3, 4]], [[5, 6], [7, 8]])": ("float64", [[19, 22], [43, 50]]),
    "tesela.matmul(numpy.arange(6).reshape(2, 3), [[1], [1], [1]])": ("float64", [[3], [12]]),
    "tesela.matmul(a, b.astype('float32'))": ("float64", [[3, 3], [12, 12]]),
    "tesela.matmul(a > 2, b)": ("float64", [[0, 0], [3, 3]]),
    "tesela.matmul(a > 2, b > 0)": ("int32", [[0, 0], [3, 3]]),
    "tesela.matmul(a, [1, 2, 3])": ("float64", [8, 26]),
    "tesela.matmul([1, 2, 3], [4, 5, 6])": ("float64", 32),
    "tesela.matmul(a, b, alpha=2)": ("float64", [[6, 6], [24, 24]]),
    "tesela.matmul(a, b, alpha=numpy.float32(0.5))": ("float64", [[1.5, 1.5], [6, 6]]),
    "tesela.matmul(a, b, bias=[1, 2])": ("float64", [[4, 5], [13, 14]]),
    "tesela.matmul(a, b, bias=numpy.array([1, 2]))": ("float64", [[4, 5], [13, 14]]),
    "tesela.matmul([[1, 2]], [[3], [4]], dtype='float32')": ("float32", [[11]]),
    "tesela.matmul(bytes_.T, bytes_)": ("int32", [[3, 3], [3, 3]]),
    "tesela.matmul(bytes_.T, bytes_, scale_a=0.5, "
    "scale_b=numpy.array([1.0, 2.0]))": ("float32", [[1.5, 3], [1.5, 3]]),
    "tesela.gemm(b, a, trans_a='T', trans_b='T')": ("float64", [[3, 12], [3, 12]]),
    "tesela.gemm(a, b, trans_a='N', trans_b='n')": ("float64", [[3, 3], [12, 12]]),
    "tesela.gemm(a, b, [[1, 1], [1, 1]])": ("float64", [[4, 4], [13, 13]]),
    "tesela.dot([1, 2, 3], [4, 5, 6])": ("float64", 32),
    "tesela.syrk([[1, 2], [3, 4]])": ("float64", [[5, 11], [11, 25]]),
    "tesela.solve_triangular([[2, 0], [1, 4]], [2, 9], lower=True)": ("float64", [1, 2]),
    "tesela.solve_triangular([[2, 1], [0, 4]], [2, 9], trans='T')": ("float64", [1, 2]),
    "tesela.trmm([[2, 0], [1, 4]], [[1.0], [3.0]], lower=True)": ("float64", [[2], [13]]),
    "tesela.symm(numpy.float32([[2, 1], [1, 4]]), [[1, 2], [3, 4]])": ("float64", [[5, 8], [13, 18]]),
    "tesela.matmul_grouped([[[1, 2]], a], [[[3], [4]], b])[0]": ("float64", [[11]]),
    "tesela.Plan([[1, 2], [3, 4]], [[5], [6]])([[1, 0], [0, 1]], [[5], [6]])": ("float64", [[5], [6]]),
    "tesela.matmul(a, b, full_output=1)[0]": ("float64", [[3, 3], [12, 12]]),
}

WRONG = {
    "tesela.matmul(a, b, alpha='2')": (TypeError, "alpha is '2': a number is expected"),
    "tesela.matmul(a, b, alpha=[2])": (TypeError, r"alpha is \[2\]: a number is expected"),
    "tesela.matmul(a, b, alpha=10**400)": (ValueError, "alpha is beyond the range of float64"),
    "tesela.matmul(masked, b)": (TypeError, r"a is a masked array.*a\.filled\(0\)"),
    "tesela.matmul(a, b, out=masked)": (TypeError, "out is a masked array"),
    "tesela.syrk(masked)": (TypeError, "a is a masked array"),
    "tesela.matmul(a, b, bias=masked[0, :2])": (TypeError, "bias is a masked array"),
    "tesela.matmul(a, b, out=[[0, 0], [0, 0]])": (TypeError, "out is a list: an array is expected"),
    "tesela.matmul(a, b, out=numpy.empty((2, 2), int))": (TypeError, "out is int64: a product of float64 and "
                                                          "float64 is float64"),
    "tesela.matmul(a, 2.0)": (ValueError, "b is a scalar"),
    "tesela.matmul(None, b)": (TypeError, "a is None"),
    "tesela.matmul(a)": (TypeError, "misses the argument 'b'"),
    "tesela.matmul(a, b, a=a)": (TypeError, "'a' twice"),
    "tesela.matmul(a, b, trans_a='t')": (TypeError, "has no argument 'trans_a'"),
    "tesela.matmul(a, b, None, 2)": (TypeError, "at most 3 arguments"),
    "tesela.matmul(a, a)": (ValueError, "3 columns do not match 2 rows"),
    "tesela.matmul([['x', 'y']], b)": (TypeError, "no products of <U1 and float64"),
    "tesela.matmul(a, b, device=0)": (TypeError, "device is 0: a name is expected"),
    "tesela.matmul(a, b, device='gpu')": (ValueError, '^device: "gpu"'),
    "tesela.matmul(a, b, device='opencl:77')": (tesela.NoDevice, "there is no device opencl:77"),
    "tesela.matmul(a, b, device='opencl:77', alpha=2)": (ValueError, "there is no device opencl:77"),
    "tesela.Plan(a, b, device='opencl:77')": (tesela.Error, "there is no device opencl:77"),
    "tesela.matmul(a, b, strategy='fast')": (ValueError, "'fast' is not a strategy"),
    "tesela.matmul(a, b, bias=1)": (ValueError, r"bias has the shape \(\): this product needs \(2,\)"),
    "tesela.Plan(a, b, runs='x')": (ValueError, "runs is 'x': a whole number"),
    "tesela.gemm(a, b, numpy.ones((2, 1)))": (ValueError, r"c has the shape \(2, 1\)"),
    "tesela.gemm(a, b, a[:, :2] * 1j)": (TypeError, "c is complex128, and the result float64"),
    "tesela.dot(a, b)": (ValueError, "x has 2 dimensions"),
}


@pytest.mark.parametrize("line", RIGHT)
def test_right(line):
    kind, expected = RIGHT[line]
    result = eval(line, dict(NAMES))
    assert result.dtype == kind and result.tolist() == expected


@pytest.mark.parametrize("line", WRONG)
def test_wrong(line):
    error, sentence = WRONG[line]
    with pytest.raises(error, match=sentence) as caught:
        eval(line, dict(NAMES))
    assert "desc" not in str(caught.value)
    if error in (tesela.NoDevice, tesela.Error):
        assert caught.value.status == "NO_DEVICE"


def test_what_is_shown_has_the_verdict():
    def shown(*arguments, **words):
        return repr(tesela.matmul(*arguments, device="cpu", full_output=True, **words)[1])

    assert " on cpu in " in shown(A, B) and "its error is at most " in shown(A, B)
    assert shown(A, B).endswith("not measured>")
    assert shown(A, B, measure_error=True).endswith("on 2 x 2 elements: right>")
    assert "nothing ran" in shown(A[:0], B)
    wrong = tesela.Info("gemm x device=cpu", 1.0, 1e-9, error_measured=1e-3, measured_rows=1, measured_cols=1,
                        note="cuda:1 failed")
    assert repr(wrong).endswith("elements: wrong; cuda:1 failed>")
    assert "float64, 2 x 2 x 3" in repr(tesela.Plan(A, B)) and "gemm " in repr(tesela.Plan(A, B))
    assert repr(tesela.devices()[0]).startswith("<tesela.Device cpu: ")
