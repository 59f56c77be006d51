"""Arrays of other libraries on the host: results of their kind, without copies."""

import array
import importlib.util

import numpy
import pytest
import tesela

from reference import TYPES, check, random

TYPES_OF_ALL = ["float64", "float32", "float16", "bfloat16", "complex64", "int8", "uint8"]


class Foreign:
    """An array that speaks DLPack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("name", ["float64", "float32", "complex64", "int8"])
def test_dlpack(name):
    rng = numpy.random.default_rng(1)
    a, b = random(rng, (4, 6), name), random(rng, (6, 5), name)
    kind = "int32" if name == "int8" else name
    check(tesela.matmul(Foreign(a), Foreign(b)), a, b, kind)
    out = numpy.empty((4, 5), kind)
    tesela.matmul(Foreign(a[:, ::-1]), b, out=out)
    check(out, a[:, ::-1], b, kind)


def test_dlpack_out_that_overlaps():
    a = numpy.ones((3, 3))
    with pytest.raises(ValueError, match="share memory"):
        tesela.matmul(Foreign(a), numpy.ones((3, 3)), out=a)


def test_buffers():
    rows = memoryview(array.array("d", [1, 2, 3, 4])).cast("B").cast("d", (2, 2))
    assert tesela.matmul(rows, numpy.eye(2)).tolist() == [[1, 2], [3, 4]]


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
class TestJax:
    @pytest.mark.parametrize("name", TYPES_OF_ALL)
    def test_kinds(self, name):
        import jax
        with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
            rng = numpy.random.default_rng(1)
            a, b = random(rng, (2, 4, 6), name), random(rng, (6, 5), name)
            result = tesela.matmul(jax.numpy.asarray(a), jax.numpy.asarray(b))
            assert isinstance(result, jax.Array)
            check(numpy.asarray(result), a, b, "int32" if name in ("int8", "uint8") else name)

    def test_no_copy(self):
        import jax
        from tesela import _libraries
        a = jax.numpy.ones((64, 64))
        assert _libraries.see(a, "a").view.data == a.unsafe_buffer_pointer()

    def test_cannot_be_written(self):
        import jax
        a = jax.numpy.ones((3, 3))
        with pytest.raises(ValueError, match="read-only"):
            tesela.matmul(a, a, out=jax.numpy.zeros((3, 3)))
        with pytest.raises(TypeError, match="traced"):
            jax.jit(lambda x: tesela.matmul(x, x))(a)

    def test_plan_dot_transpose(self):
        import jax
        if jax.default_backend() != "cpu":
            pytest.skip("dot and transpose take arrays on the host")
        a = jax.numpy.arange(12, dtype="float32").reshape(3, 4)
        b = jax.numpy.ones((4, 2), "float32")
        result = tesela.Plan(a, b)(a, b)
        assert isinstance(result, jax.Array)
        assert result.tolist() == (numpy.asarray(a) @ numpy.asarray(b)).tolist()
        assert tesela.dot(a[0], a[1]).tolist() == 38
        turned = tesela.transpose(a)
        assert isinstance(turned, jax.Array) and turned.tolist() == numpy.asarray(a).T.tolist()


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
class TestTorch:
    @pytest.mark.parametrize("name", TYPES_OF_ALL)
    def test_kinds(self, name):
        import torch
        torch.manual_seed(1)
        kind = getattr(torch, name)
        if name in ("int8", "uint8"):
            a, b = torch.randint(0, 100, (2, 4, 6), dtype=kind), torch.randint(0, 100, (6, 5), dtype=kind)
        else:
            a, b = torch.randn(2, 4, 6, dtype=kind), torch.randn(6, 5, dtype=kind)
        result = tesela.matmul(a, b)
        assert isinstance(result, torch.Tensor) and result.device == a.device

        def as_numpy(tensor):
            if tensor.dtype == torch.bfloat16:
                return tensor.float().numpy().astype(TYPES["bfloat16"])
            return tensor.numpy()
        check(as_numpy(result), as_numpy(a), as_numpy(b), "int32" if name in ("int8", "uint8") else name)

    def test_no_copy_and_out(self):
        import torch
        a, b, out = torch.randn(5, 7).T, torch.randn(5, 4).requires_grad_(), torch.empty(4, 7).T
        assert tesela.matmul(a, b, out=out) is out
        assert torch.allclose(out, (a @ b).detach(), atol=1e-5)

    def test_conjugate(self):
        import torch
        a, b = torch.randn(3, 4, dtype=torch.complex64), torch.randn(4, 5, dtype=torch.complex64)
        assert torch.allclose(tesela.matmul(a.conj(), b), a.conj() @ b, atol=1e-5)
        assert torch.allclose(tesela.matmul(b.mH, a.mH), b.mH @ a.mH, atol=1e-5)

    def test_refused(self):
        import torch
        with pytest.raises(TypeError, match="layout"):
            tesela.matmul(torch.eye(3).to_sparse(), torch.eye(3))
        with pytest.raises(TypeError, match="meta"):
            tesela.matmul(torch.eye(3, device="meta"), torch.eye(3))
