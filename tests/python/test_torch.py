"""Operators of tesela.torch against PyTorch: results, gradients, compile, autocast, vmap, equal bits."""

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")
tt = pytest.importorskip("tesela.torch", reason="needs PyTorch 2.9", exc_type=ImportError)

torch.set_num_threads(1)  # small products; other processes may use the processor
DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
ROUNDOFF = {torch.float64: 2.0**-53, torch.complex128: 2.0**-53, torch.float32: 2.0**-24,
            torch.complex64: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
pytestmark = pytest.mark.parametrize("device", DEVICES)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(3)


def random(*shape, device, dtype=torch.float64):
    wide = dtype if dtype.is_complex else torch.float64
    return torch.randn(*shape, device=device, dtype=wide).to(dtype)


def wide(tensor):
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def close(result, a, b, added=0.0):
    """Returns True if each element is within the bound of any order of sums."""
    roundoff = ROUNDOFF[result.dtype]
    sums = max(roundoff if roundoff > 2.0**-20 else 0, 2.0**-24) if result.element_size() < 4 else roundoff
    a, b = wide(a), wide(b)
    exact = a @ b + (wide(added) if isinstance(added, torch.Tensor) else added)
    size = a.abs() @ b.abs() + (wide(added).abs() if isinstance(added, torch.Tensor) else abs(added))
    error = (wide(result) - exact).abs()
    return bool((error <= (4 * (a.shape[-1] + 4) * sums + 2 * roundoff) * size + 1e-300).all())


@pytest.mark.parametrize("dtype", ROUNDOFF)
def test_products(device, dtype):
    a, b = random(33, 70, device=device, dtype=dtype), random(70, 21, device=device, dtype=dtype)
    row, full = random(21, device=device, dtype=dtype), random(33, 21, device=device, dtype=dtype)
    layouts = [(a, b), (a.t().contiguous().t(), b), (a[:, ::2], b[::2]), (a[:1].expand(33, 70), b)]
    if dtype.is_complex:
        layouts += [(a.conj(), b.conj()), (a, b.t().contiguous().mH)]
    for x, y in layouts:
        x, y = x[:, :y.shape[0]], y[:x.shape[1]]
        result = tt.mm(x, y)
        assert result.dtype == dtype and result.is_contiguous() and close(result, x, y)
        assert close(torch.ops.tesela.mm(x, y), x, y)
        assert close(tt.addmm(row, x, y), x, y, row)
        assert close(tt.addmm(full, x, y, beta=0.5, alpha=-2), -2 * x, y, 0.5 * full)
        many = torch.stack([x, -x])
        assert close(tt.bmm(many, y.expand(2, *y.shape)), many, y)
        assert close(tt.baddbmm(full, many, torch.stack([y, y]), beta=2), many, y, 2 * full)
    if not dtype.is_complex:
        for activation, function in {None: lambda x: x, "relu": torch.relu,
                                     "gelu": torch.nn.functional.gelu}.items():
            x = torch.stack([a, -a])
            result = tt.linear(x, b.t(), row, activation=activation)
            expected = function(wide(x) @ wide(b) + wide(row))
            assert result.shape == (2, 33, 21)
            roundoff = ROUNDOFF[dtype]
            assert torch.allclose(wide(result), expected, rtol=8 * roundoff, atol=1e3 * roundoff)


def test_empty_and_nan(device):
    a, b = torch.ones(3, 4, device=device), torch.ones(4, 5, device=device)
    nan = torch.full((3, 5), float("nan"), device=device)
    assert torch.equal(tt.addmm(nan, a, b, beta=0), torch.full_like(nan, 4))
    assert tt.mm(a[:0], b).shape == (0, 5) and torch.equal(tt.mm(a[:, :0], b[:0]), torch.zeros_like(nan))
    assert tt.addmm(nan, a, b).isnan().all()
    assert tt.linear(a[:0], b.t(), b[0]).shape == (0, 5)


def test_narrow_types(device):
    a, b = (random(*shape, device=device).to(torch.float8_e4m3fn) for shape in ((32, 48), (16, 48)))
    scales = torch.rand(32, device=device) + 0.5
    expected = scales.double()[:, None] * (wide(a) @ wide(b).t()) * 0.25
    result = tt.scaled_mm(a, b.t(), scales, 0.25)
    assert result.dtype == torch.float32 and torch.allclose(wide(result), expected, atol=1e-4)
    assert tt.scaled_mm(a, b.t(), scales, 0.25, dtype=torch.bfloat16).dtype == torch.bfloat16
    i, j = (torch.randint(-128, 128, shape, device=device, dtype=torch.int8)
            for shape in ((32, 48), (48, 16)))
    exact = wide(i) @ wide(j)
    assert torch.equal(wide(tt.int_mm(i, j)), exact)
    assert torch.allclose(wide(tt.scaled_mm(i, j, scales, 0.5)), scales.double()[:, None] * exact * 0.5)


def test_groups(device):
    pairs = [(random(m, 7, device=device), random(7, n, device=device)) for m, n in ((3, 4), (0, 5), (9, 2))]
    results = tt.matmul_grouped(*zip(*pairs))
    assert [tuple(r.shape) for r in results] == [(3, 4), (0, 5), (9, 2)]
    assert all(close(result, a, b) for result, (a, b) in zip(results, pairs))
    assert tt.matmul_grouped([], []) == []
    with pytest.raises(RuntimeError, match="product 1"):
        tt.matmul_grouped([pairs[0][0], pairs[0][0]], [pairs[0][1], pairs[0][0]])


CALLS = {
    "mm": lambda x: tt.mm(x["a"], x["b"]),
    "bmm": lambda x: tt.bmm(torch.stack([x["a"], x["a"]]), torch.stack([x["b"], 2 * x["b"]])),
    "addmm": lambda x: tt.addmm(x["row"], x["a"], x["b"], beta=0.5, alpha=2),
    "addmm full": lambda x: tt.addmm(x["full"], x["a"], x["b"]),
    "baddbmm": lambda x: tt.baddbmm(x["row"], x["a"][None], x["b"][None], alpha=3),
    "linear": lambda x: tt.linear(x["a"][None], x["b"].t(), x["row"]),
    "relu": lambda x: tt.linear(x["a"], x["b"].t(), x["row"], activation="relu"),
    "gelu": lambda x: torch.ops.tesela.linear(x["a"], x["b"].t(), x["row"], activation="gelu"),
    "gelu_tanh": lambda x: tt.linear(x["a"], x["b"].t(), activation="gelu_tanh"),
    "groups": lambda x: tt.matmul_grouped([x["a"], x["a"][:2]], [x["b"], x["b"]]),
}


def inputs(device, dtype=torch.float64, grad=True):
    shapes = {"a": (4, 5), "b": (5, 3), "row": (3,), "full": (4, 3)}
    return {name: random(*shape, device=device, dtype=dtype).requires_grad_(grad)
            for name, shape in shapes.items()}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_gradients(device, name, dtype):
    if dtype.is_complex and "elu" in name:
        pytest.skip("complex numbers have no activation")
    values = inputs(device, dtype)
    names = list(values)

    def call(*tensors):
        return CALLS[name](dict(zip(names, tensors)))

    assert torch.autograd.gradcheck(call, tuple(values.values()))
    if name in ("mm", "addmm", "linear"):
        assert torch.autograd.gradgradcheck(call, tuple(values.values()))


@pytest.mark.parametrize("name", CALLS)
def test_compile(device, name):
    values = inputs(device)
    plain = CALLS[name](values)
    compiled = torch.compile(CALLS[name], fullgraph=True, backend="aot_eager")(values)
    for one, other in zip(*((x if isinstance(x, list) else [x]) for x in (plain, compiled))):
        assert torch.allclose(one, other, rtol=1e-12)
        gradients = [torch.autograd.grad(x.square().sum(), values["a"], retain_graph=True)[0]
                     for x in (one, other)]
        assert torch.allclose(*gradients, rtol=1e-10)


def test_compile_by_inductor(device):
    if device == "cpu":
        pytest.skip("Inductor compiles C++ for half a minute; on CUDA this runs")
    values = inputs(device, torch.float32, grad=False)

    def call(x):
        hidden = tt.linear(x["a"], x["b"].t(), x["row"], activation="relu", bits="rows")
        return torch.sigmoid(tt.mm(hidden * 2, x["b"].t(), accuracy=1e-5))

    assert torch.allclose(torch.compile(call, fullgraph=True)(values), call(values), atol=1e-5)


def test_operators_are_registered_completely(device):
    values = inputs(device)
    a, b, row = values["a"], values["b"], values["row"]
    for operator, arguments in ((torch.ops.tesela.mm, (a, b)), (torch.ops.tesela.addmm, (row, a, b)),
                                (torch.ops.tesela.linear, (a, b.t().detach(), row))):
        torch.library.opcheck(operator.default, arguments)


def test_autocast(device):
    a, b = random(8, 9, device=device, dtype=torch.float32), random(9, 7, device=device, dtype=torch.float32)
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast(device, dtype=dtype):
            assert tt.mm(a, b).dtype == tt.linear(a, b.t(), b[0]).dtype == dtype
            assert tt.matmul_grouped([a], [b])[0].dtype == dtype
            assert tt.mm(a.double(), b.double()).dtype == torch.float64
        assert tt.mm(a, b).dtype == torch.float32
    weight = b.clone().requires_grad_()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = tt.mm(a, weight).float().square().sum()
    loss.backward()
    assert weight.grad.dtype == torch.float32 and weight.grad.abs().sum() > 0


def test_vmap(device):
    values = inputs(device)
    a, b, row = (values[name].detach() for name in ("a", "b", "row"))
    many = torch.stack([a, 2 * a, -a])
    assert torch.allclose(torch.vmap(tt.mm, (0, None))(many, b), many @ b)
    assert torch.allclose(torch.vmap(tt.mm, (2, 0))(many.movedim(0, 2), b.expand(3, 5, 3)), many @ b)
    assert torch.allclose(torch.vmap(tt.bmm, (0, None))(many[:, None], b[None]), (many @ b)[:, None])
    assert torch.allclose(torch.vmap(tt.addmm, (None, 0, None))(row, many, b), many @ b + row)
    assert torch.allclose(torch.vmap(lambda x: tt.matmul_grouped([x], [b])[0])(many), many @ b)
    gradient = torch.func.grad(lambda x: tt.linear(x, b.t(), row, activation="relu").sum())
    assert torch.allclose(torch.vmap(gradient)(many), (many @ b + row > 0).double() @ b.t())


@pytest.mark.parametrize("name", ["mm", "addmm", "linear", "gelu"])
def test_gradients_of_gradients_in_transforms(device, name):
    """The gradient of a square depends on the product, so that gradients are products with gradients."""
    a, b = random(3, 4, device=device), random(4, 5, device=device)
    ours, theirs = {"mm": (tt.mm, torch.mm),
                    "addmm": (lambda a, b: tt.addmm(b[0], a, b, alpha=2), lambda a, b: b[0] + 2 * (a @ b)),
                    "linear": (lambda a, b: tt.linear(a, b.t(), b[0]), lambda a, b: a @ b + b[0]),
                    "gelu": (lambda a, b: tt.linear(a, b.t(), activation="gelu"),
                             lambda a, b: torch.nn.functional.gelu(a @ b))}[name]
    for transform in (lambda f: torch.func.grad(f, 1), lambda f: torch.func.jacrev(torch.func.jacrev(f))):
        results = [transform(lambda a, b, f=f: (f(a, b) ** 2).sum())(a, b)
                   for f in (ours, theirs)]
        assert torch.allclose(*results)


def test_results_are_ordinary_tensors(device):
    """Programs may resize results and change them in place, also with a gradient."""
    a, many = random(3, 4, device=device), random(2, 3, 4, device=device)
    weight = random(5, 4, device=device)
    makers = [lambda: tt.linear(many, weight), lambda: tt.bmm(many, many.mT),
              lambda: tt.addmm(a, a, a.t() @ a), lambda: tt.mm(a, weight.t()),
              lambda: tt.int_mm(a.to(torch.int8), a.t().to(torch.int8))]
    for make in makers:
        assert make().resize_(70).shape == (70,)
    weight.requires_grad_()
    for make in (lambda: tt.linear(many, weight),
                 lambda: torch.vmap(tt.bmm, (0, None))(many[:, None], weight.t()[None])):
        result = make()
        result.add_(1)
        gradient = torch.autograd.grad(result.sum(), weight)[0]
        assert torch.allclose(gradient, many.sum((0, 1)).expand(5, 4))


def test_linear_without_elements(device):
    for shape, n in (((0,), 3), ((2, 0), 3), ((0, 2, 4), 3), ((2, 4), 0), ((2, 0, 4), 0)):
        x, weight = torch.ones(shape, device=device), torch.ones(n, shape[-1], device=device)
        x.requires_grad_()
        result = tt.linear(x, weight)
        assert torch.equal(result, torch.nn.functional.linear(x, weight))
        assert torch.equal(*torch.autograd.grad(result.sum(), x), torch.zeros(shape, device=device))


def test_modes_see_the_operator(device):
    class Recorder(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
            seen.append((str(function), (keywords or {}).get("bits")))
            return function(*arguments, **(keywords or {}))

    seen = []
    a = torch.ones(3, 3, device=device)
    with Recorder():
        tt.mm(a, a)
    assert seen == [("tesela.mm.default", None)]
    calls = [lambda x: tt.mm(x, a, bits="rows"), lambda x: tt.linear(x, a, a[0], bits="rows"),
             lambda x: tt.addmm(a, x, a, bits="rows"), lambda x: tt.matmul_grouped([x], [a], bits="rows")[0]]
    for call in calls:  # the backward products, too
        seen = []
        with Recorder():
            call(a.clone().requires_grad_()).sum().backward()
        assert [bits for name, bits in seen if "tesela" in name] == ["rows", "rows"], seen
    with torch._subclasses.FakeTensorMode():
        fake = torch.ones(3, 4, device=device)
        assert tuple(tt.mm(fake, fake.t()).shape) == (3, 3)
    assert tt.mm(torch.ones(3, 4, device="meta"), torch.ones(4, 2, device="meta")).device.type == "meta"


def test_errors(device):
    a = torch.ones(3, 4, device=device)
    for call in (lambda: tt.mm(a, a), lambda: tt.mm(a, a.t().double()), lambda: tt.mm(a[0], a.t()),
                 lambda: tt.mm(a.long(), a.t().long()), lambda: tt.addmm(a.double(), a, a.t()),
                 lambda: tt.linear(a, a, a[0]), lambda: tt.int_mm(a, a.t()), lambda: tt.scaled_mm(a, a.t()),
                 lambda: tt.addmm(a, a, a.t(), beta=0),
                 lambda: tt.baddbmm(a, a[None], a.t()[None], beta=0)):
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(ValueError, match="activation"):
        tt.linear(a, a, activation="tanh")
    with pytest.raises(ValueError, match="any, run, threads, rows or devices"):
        tt.mm(a, a.t(), bits="always")
    with pytest.raises(ValueError, match="it can be default"):
        tt.bmm(a[None], a.t()[None], accuracy="best")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rows_keep_their_bits(device, dtype):
    """A sample in a batch of one has the bits that it has in a batch of 512, forward and backward."""
    torch.manual_seed(5)
    first = tt.Linear(96, 160, activation="relu", bits="rows", device=device, dtype=dtype)
    second = tt.Linear(160, 40, activation="gelu", bits="rows", device=device, dtype=dtype)
    x, gradient = random(512, 96, device=device, dtype=dtype), random(512, 40, device=device, dtype=dtype)

    def run(rows):
        part = x[rows].requires_grad_()
        result = second(first(part))
        result.backward(gradient[rows])
        return result.detach(), part.grad

    whole = run(slice(None))
    for i in (0, 3, 200, 511):
        alone = run(slice(i, i + 1))
        assert all(torch.equal(one[0], many[i]) for one, many in zip(alone, whole))
    assert "bits=rows" in repr(first)


def test_in_a_graph(device):
    """Warm-up and capture are on different streams; a split product needs a workspace."""
    if device == "cpu":
        pytest.skip("graphs need a CUDA device")
    a, b, row = (random(*shape, device=device, dtype=torch.bfloat16)
                 for shape in ((16, 8192), (8192, 64), (64,)))

    def call():
        return tt.mm(a, b), tt.linear(a, b.t(), row, activation="relu", bits="rows"), tt.bmm(a[None], b[None])

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = call()
    for _ in range(3):
        a.copy_(torch.randn_like(a))
        graph.replay()
        assert all(torch.equal(one, other) for one, other in zip(results, call()))
        assert close(results[0], a, b)


@pytest.mark.parametrize("order", ["tesela, torch", "torch, tesela"])
def test_order_of_imports(device, order):
    script = (f"import {order}; a = torch.ones(40, 50, device='{device}'); "
              "print(tesela.matmul(a, a.t()).sum().item())")
    run = subprocess.run([sys.executable, "-X", "faulthandler", "-c", script], capture_output=True, text=True)
    assert run.returncode == 0 and float(run.stdout) == 80000, run.stderr
