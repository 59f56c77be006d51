"""accuracy, bits and measure_error of every call that takes them."""

import numpy
import pytest

import tesela

M, N, K = 37, 29, 300


@pytest.fixture(scope="module")
def matrices():
    random = numpy.random.default_rng(5)
    return (random.standard_normal((M, K), dtype=numpy.float32),
            random.standard_normal((K, N), dtype=numpy.float32))


def calls(a, b, **asks):
    """Each call's info, by its name."""
    plan = tesela.Plan(a, b, device="cpu", **asks)
    return {
        "matmul": tesela.matmul(a, b, device="cpu", full_output=True, **asks)[1],
        "gemm": tesela.gemm(a, b, device="cpu", full_output=True, **asks)[1],
        "dot": tesela.dot(a[0], b[:, 0].copy(), device="cpu", full_output=True, **asks)[1],
        "Plan": plan(a, b, full_output=True)[1],
        "batch": tesela.matmul(numpy.stack([a, a]), numpy.stack([b, b]), device="cpu", full_output=True,
                               **asks)[1],
    }


def test_accuracy(matrices):
    for name, info in calls(*matrices, accuracy="exact").items():
        assert " exact " in info.plan and "accuracy=exact" in info.plan, (name, info)
    for name, info in calls(*matrices, accuracy=numpy.float32(2e-5)).items():
        assert info.error_bound <= numpy.float32(2e-5) and "accuracy=" in info.plan, (name, info)
    a, b = matrices
    exact = tesela.matmul(a, b, accuracy="exact", device="cpu")
    assert (exact == (a.astype(float) @ b.astype(float)).astype(numpy.float32)).mean() > 0.999
    with pytest.raises(ValueError, match="it can be default, a number above 0"):
        tesela.matmul(a, b, accuracy="best")
    with pytest.raises(ValueError, match="it can be default"):
        tesela.matmul(a, b, accuracy="")
    with pytest.raises(ValueError, match="it can be default"):
        tesela.matmul(a, b, accuracy=-1)
    with pytest.raises(TypeError, match="accuracy is True"):
        tesela.matmul(a, b, accuracy=True)
    with pytest.raises(tesela.Error, match="exact is asked for"):
        tesela.matmul(a, b, accuracy="exact", strategy="sequential")


def test_bits(matrices):
    for name, info in calls(*matrices, bits="threads").items():
        assert "bits=threads" in info.plan, (name, info)
    with pytest.raises(ValueError, match="any, run, threads, rows or devices"):
        tesela.matmul(*matrices, bits="always")
    with pytest.raises(TypeError, match="bits is 1"):
        tesela.matmul(*matrices, bits=1)
    assert numpy.array_equal(tesela.transpose(matrices[0], accuracy="exact", bits="devices"), matrices[0].T)


def test_measured_errors(matrices):
    a, b = matrices
    for name, info in calls(a, b, measure_error=True).items():
        assert 0 < info.error_measured <= info.error_bound, (name, info)
        assert info.measured_rows > 0 and info.measured_cols > 0 and info.seconds_measure > 0, (name, info)
    for name, info in calls(a, b).items():
        assert info.error_measured == 0 and info.measured_rows == 0, (name, info)
    # The true error, by a sum in float64.
    small, info = tesela.matmul(a[:, :50].copy(), b[:50], device="cpu", measure_error=3, full_output=True)
    right = a[:, :50].astype(float) @ b[:50].astype(float)
    error = (abs(small - right) / (abs(a[:, :50]).astype(float) @ abs(b[:50]).astype(float))).max()
    assert info.measured_rows == M and info.measured_cols == N
    assert info.error_measured == pytest.approx(error, rel=1e-5)
    moved = tesela.transpose(a, alpha=0.3, measure_error=True, full_output=True)[1]
    assert 0 < moved.error_measured <= moved.error_bound
    with pytest.raises(ValueError, match="measure_error is -1"):
        tesela.matmul(a, b, measure_error=-1)
    with pytest.raises(TypeError, match="measure_error is 1.5"):
        tesela.matmul(a, b, measure_error=1.5)


def test_verified_results(matrices):
    a, b = matrices
    for name, info in calls(a, b, verify="all").items():
        assert info.verified > 0 and info.unverified == 0 and info.seconds_verify > 0, (name, info)
        assert info.hidden_error > 0, (name, info)
    for name, info in calls(a, b).items():
        assert info.verified == 0 and info.seconds_verify == 0, (name, info)
    whole, info = tesela.matmul(a[:, :50].astype("int8"), b[:50].astype("int8"), verify="repair",
                                device="cpu", full_output=True)
    assert info.verified == whole.size and info.hidden_error == 0
    assert "verified" in repr(info)
    with pytest.raises(ValueError, match="none, all, memory or repair"):
        tesela.matmul(a, b, verify="most")
    with pytest.raises(TypeError, match="verify is 1"):
        tesela.matmul(a, b, verify=1)
    with pytest.raises(tesela.Error, match="activation"):
        tesela.matmul(a, b, verify="all", activation="relu")


def test_long_products_in_pieces(matrices, short_pieces):
    a, b = matrices
    info = tesela.matmul(numpy.repeat(a, 8, axis=0), b, device="cpu", measure_error=True, accuracy=1e-4,
                         full_output=True)[1]
    assert 0 < info.error_measured <= info.error_bound <= 1e-4 and info.measured_rows > 0


def test_rows_keep_their_bits(matrices):
    a, b = matrices
    whole = tesela.matmul(a, b, bits="rows", device="cpu")
    order = numpy.random.default_rng(7).permutation(M)
    assert numpy.array_equal(tesela.matmul(a[order], b, bits="rows", device="cpu"), whole[order])
    for i in range(0, M, 5):
        for left in (a[i:i + 1], numpy.asfortranarray(a[i:i + 1])):
            for right in (b, numpy.asfortranarray(b)):
                assert numpy.array_equal(tesela.matmul(left, right, bits="rows", device="cpu")[0], whole[i])
    stacked = tesela.matmul(numpy.stack([a[:3], a[5:8]]), b, bits="rows", device="cpu")
    assert numpy.array_equal(stacked, numpy.stack([whole[:3], whole[5:8]]))
    gradient = tesela.matmul(a[:8].T, whole[:8], bits="rows", device="cpu")
    assert numpy.array_equal(tesela.matmul(a[:8].T[3:4], whole[:8], bits="rows", device="cpu"), gradient[3:4])
