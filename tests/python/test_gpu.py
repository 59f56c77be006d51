"""Arrays of PyTorch, CuPy and JAX on a CUDA device: of the same kind, on the caller's stream, in graphs."""

import importlib.util

import numpy
import pytest
import tesela


def has_cuda():
    if importlib.util.find_spec("torch") is None:
        return False
    import torch
    return torch.cuda.is_available()


pytestmark = pytest.mark.skipif(not has_cuda(), reason="needs PyTorch and a CUDA device")
TYPES = {"float64": 1e-13, "float32": 1e-5, "float16": 2e-3, "bfloat16": 1.6e-2, "complex64": 1e-5}


def near(result, a, b, tolerance):
    """Within the tolerance of abs(a) abs(b), element by element, in PyTorch's float64."""
    import torch
    wide = torch.complex128 if a.is_complex() else torch.float64
    a, b, result = a.to(wide), b.to(wide), result.to(wide)
    return bool(((result - a @ b).abs() <= tolerance * (a.abs() @ b.abs()) + 1e-300).all())


@pytest.fixture
def pair():
    import torch
    torch.manual_seed(1)
    return torch.randn(300, 200, device="cuda"), torch.randn(200, 170, device="cuda")


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("layout", ["rows", "columns", "gaps"])
def test_types_and_layouts(pair, name, layout):
    import torch
    a, b = (x.to(getattr(torch, name)) for x in pair)
    if layout == "columns":
        a, b = a.T.contiguous().T, b.T.contiguous().T
    if layout == "gaps":
        a, b = torch.cat([a, a], 1)[:, ::2], torch.cat([b, b], 1)[:, 100:270]
    result = tesela.matmul(a, b)
    assert isinstance(result, torch.Tensor) and result.device == a.device and result.dtype == a.dtype
    assert near(result, a, b, TYPES[name])


def test_integers():
    import torch
    a = torch.randint(-128, 127, (64, 96), dtype=torch.int8, device="cuda")
    b = torch.randint(-128, 127, (96, 80), dtype=torch.int8, device="cuda")
    result = tesela.matmul(a, b)
    assert result.dtype == torch.int32 and (result.double() == a.double() @ b.double()).all()


def test_without_copies(pair):
    import torch
    from tesela import _libraries
    a, b = pair
    assert _libraries.see(a, "a").view.data == a.data_ptr()
    out = torch.full((300, 170), float("nan"), device="cuda")
    before = out.data_ptr()
    assert tesela.matmul(a, b, out=out) is out and out.data_ptr() == before
    assert near(out, a, b, 1e-5)
    old = out.clone()
    tesela.matmul(a, b, out=out, alpha=2, beta=-1)
    assert torch.allclose(out, 2 * (a @ b) - old, atol=1e-3)


def test_a_bias_and_an_activation(pair):
    import torch
    a, b = pair
    row, column = torch.randn(340, device="cuda")[::2], torch.randn(300, 1, device="cuda")
    gelu = torch.nn.functional.gelu
    for _ in range(2):  # the second time by the plan that is there
        assert torch.allclose(tesela.matmul(a, b, bias=row, activation="gelu"), gelu(a @ b + row), atol=1e-3)
        assert torch.allclose(tesela.matmul(a, b, bias=column, activation="relu"), torch.relu(a @ b + column),
                              atol=1e-3)
        assert torch.allclose(tesela.matmul(a, b, activation="gelu_tanh"), gelu(a @ b, approximate="tanh"),
                              atol=1e-3)
        assert torch.allclose(tesela.matmul(a, b), a @ b, atol=1e-3)
    many = torch.stack([a, -a])
    assert torch.allclose(tesela.matmul(many, b, bias=column), many @ b + column, atol=1e-3)
    with pytest.raises(ValueError, match="both must be in one place"):
        tesela.matmul(a, b, bias=row.cpu())


def test_batches_and_vectors(pair):
    import torch
    a, b = torch.randn(3, 2, 40, 50, device="cuda"), torch.randn(2, 50, 60, device="cuda")
    assert near(tesela.matmul(a, b), a, b, 1e-5)
    assert near(tesela.matmul(a, b[0]), a, b[0], 1e-5)
    assert torch.allclose(tesela.matmul(a[0, 0], b[0, :, 0]), a[0, 0] @ b[0, :, 0], atol=1e-4)
    assert tesela.matmul(a[0, 0, 0], b[0, :, 0]).shape == ()
    assert tesela.matmul(a[:, :, :0], b).shape == (3, 2, 0, 60)


def test_negatives_and_conjugates():
    import torch
    z, w = (torch.randn(33, 33, dtype=torch.complex64, device="cuda") for _ in range(2))
    assert near(tesela.matmul(z.conj(), w.mH), z.conj().resolve_conj(), w.mH.resolve_conj(), 1e-5)
    negative = z.conj().imag
    assert negative.is_neg() and near(tesela.matmul(negative, w.real), negative.resolve_neg(), w.real, 1e-5)


def test_on_the_current_stream(pair):
    """The product waits for what its stream does before it, and for nothing else."""
    import torch
    a, b = pair
    expected = tesela.matmul(a, b)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    late = torch.zeros_like(a)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
        late.copy_(a)
        result = tesela.matmul(late, b)
        assert not stream.query()  # the product is queued after the sleep, and no thread waited
    stream.synchronize()
    assert torch.equal(result, expected)
    late.zero_()
    out = torch.zeros_like(expected)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
        late.copy_(a)
    tesela.matmul(late, b, out=out, stream=stream)
    assert not stream.query()
    stream.synchronize()
    assert torch.equal(out, expected)


@pytest.mark.parametrize("name, options", [("float32", {}), ("bfloat16", {}), ("complex64", {}),
                                           ("float32", {"strategy": "image_microtile"})])
def test_in_a_graph(name, options):
    import torch
    a, b = (torch.randn(256, 256, device="cuda").to(getattr(torch, name)) for _ in range(2))
    out = torch.empty_like(a)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        tesela.matmul(a, b, out=out, **options)
        tesela.matmul(a, b, **options)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        tesela.matmul(a, b, out=out, **options)
        fresh = tesela.matmul(out, b, **options)
    for _ in range(3):
        a.copy_(torch.randn_like(a))
        out.fill_(7)
        graph.replay()
        torch.cuda.synchronize()
        eager = tesela.matmul(a, b, **options)
        assert torch.equal(out, eager) and torch.equal(fresh, tesela.matmul(eager, b, **options))


def test_plan(pair):
    import torch
    a, b = pair
    plan = tesela.Plan(a, b)
    assert torch.equal(plan(a, b), tesela.matmul(a, b)) and "device=cuda:0" in plan.text
    with pytest.raises(ValueError, match="the plan is for"):
        plan(a.double(), b.double())
    with pytest.raises(ValueError, match="on the host pack"):
        plan.pack(b=b)


def test_refused(pair):
    import torch
    a, b = pair
    with pytest.raises(ValueError, match="both must be in one place"):
        tesela.matmul(a, b.cpu())
    with pytest.raises(ValueError, match="computed there"):
        tesela.matmul(a, b, device="cpu")
    with pytest.raises(ValueError, match="share memory"):
        tesela.matmul(a[:200], a[:200], out=a[100:])
    whole = a.long(), b.long()  # integers become float64, as on the host
    assert torch.equal(tesela.matmul(*whole), whole[0].double() @ whole[1].double())
    with pytest.raises(TypeError, match="stream"):
        tesela.matmul(a, b, stream="first")
    with pytest.raises(ValueError):
        tesela.matmul(a, b, strategy="no_such_strategy")
    assert near(tesela.matmul(a, b), a, b, 1e-5)  # the device goes on
    torch.cuda.synchronize()


def test_gradients_are_not_followed(pair):
    a, b = pair
    assert not tesela.matmul(a.requires_grad_(), b).requires_grad


def test_cupy():
    cupy = pytest.importorskip("cupy")
    a, b = cupy.random.standard_normal((30, 40)), cupy.random.standard_normal((40, 50))
    result = tesela.matmul(a, b)
    assert isinstance(result, cupy.ndarray) and cupy.allclose(result, a @ b)
    out = cupy.empty((30, 50), order="F")
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        assert tesela.matmul(a, b, out=out) is out
    stream.synchronize()
    assert cupy.allclose(out, a @ b)
    assert cupy.allclose(tesela.matmul(a[::-1], b[:, ::2]), a[::-1] @ b[:, ::2])


def test_jax():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX has no device here")
    a, b = jax.numpy.ones((30, 40)), jax.numpy.arange(40 * 50, dtype="float32").reshape(40, 50)
    result = tesela.matmul(a, b)
    assert isinstance(result, jax.Array) and result.devices() == a.devices()
    assert numpy.allclose(numpy.asarray(result), numpy.ones((30, 40)) @ numpy.asarray(b))


CONTRACTIONS = [("bqhd,bkhd->bhqk", (2, 33, 3, 16), (2, 40, 3, 16)), ("ijk,kjl->li", (5, 6, 7), (7, 6, 8)),
                ("...ij,...jk", (4, 20, 30), (4, 30, 10)), ("aijk,bick->abj", (4, 3, 6, 5), (7, 3, 2, 5)),
                ("ij,j->i", (30, 40), (40,)), ("ij,ij->", (30, 40), (30, 40)), ("ii,ij->j", (9, 9), (9, 4))]


@pytest.mark.parametrize("name", ["torch", "cupy"])
@pytest.mark.parametrize("text, left, right", CONTRACTIONS)
def test_contractions(name, text, left, right):
    library = pytest.importorskip(name)
    rng = numpy.random.default_rng(1)
    a, b = rng.standard_normal(left), rng.standard_normal(right)
    on_device = [library.asarray(x) if name == "cupy" else library.asarray(x, device="cuda") for x in (a, b)]
    result = tesela.einsum(text, *on_device)
    assert type(result) is type(on_device[0])
    assert numpy.allclose(result.get() if name == "cupy" else result.cpu().numpy(), numpy.einsum(text, a, b))
    if a.ndim == b.ndim == 4:
        result = tesela.tensordot(*on_device, ([3], [3]))
        assert numpy.allclose(result.get() if name == "cupy" else result.cpu().numpy(),
                              numpy.tensordot(a, b, ([3], [3])))
