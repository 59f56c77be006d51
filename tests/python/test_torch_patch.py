"""tesela.torch.patch(): PyTorch's products by tesela are right, and all others are PyTorch's."""

import functools
import subprocess
import sys
import threading

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")
tt = pytest.importorskip("tesela.torch", reason="needs PyTorch 2.9", exc_type=ImportError)
import torch_models  # noqa: E402  (needs PyTorch, too)
from tesela import _torch_patch  # noqa: E402

torch.set_num_threads(1)  # small products; other processes may use the processor
DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
pytestmark = pytest.mark.parametrize("device", DEVICES)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(4)
    yield
    assert not _torch_patch._settings, "a test left a patch"


def random(*shape, device, dtype=torch.float64):
    return torch.randn(shape, device=device, dtype=dtype)


def counts(report=None):
    """Numbers of calls by tesela and by torch."""
    rows = tt.report() if report is None else report
    return sum(row.tesela for row in rows), sum(row.torch for row in rows)


def matrices(device, dtype):
    a, b = random(6, 8, device=device, dtype=dtype), random(8, 5, device=device, dtype=dtype)
    pairs = {"rows": (a, b), "columns": (a.t().contiguous().t(), b.t().contiguous().t()),
             "gaps": (random(12, 16, device=device, dtype=dtype)[::2, ::2], b),
             "expanded row": (a[:1].expand(6, 8), b), "expanded column": (a[:, :1].expand(6, 8), b),
             "all equal": (a[:1, :1].expand(6, 8), b), "one row": (a[:1], b), "one column": (a, b[:, :1]),
             "no rows": (a[:0], b), "no columns": (a, b[:, :0]), "no terms": (a[:, :0], b[:0])}
    if dtype.is_complex:
        pairs |= {"conjugate": (a.conj(), b), "both conjugate": (a.conj(), b.t().contiguous().mH)}
        real = torch.float64 if dtype == torch.complex128 else torch.float32
        c = random(8, 5, device=device, dtype=real)
        pairs |= {"negative": (a.conj().imag, c), "real parts": (a.real, c)}
    return pairs


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.complex128, torch.bfloat16])
def test_layouts(device, dtype):
    tolerance = {"rtol": 0.02, "atol": 0.1} if dtype == torch.bfloat16 else {"rtol": 1e-4, "atol": 1e-5}
    for name, (a, b) in matrices(device, dtype).items():
        m, n = a.shape[0], b.shape[1]
        addends = [random(*shape, device=device).to(a.dtype)
                   for shape in ((n,), (m, n), (m, 1), (1, n), (1,), ())]
        addends.append(torch.full((n,), float("nan"), device=device, dtype=a.dtype))

        def results():
            stacks = torch.stack([a, -a]), b.expand(2, *b.shape)
            made = [a @ b, torch.mm(a, b), torch.bmm(*stacks), torch.matmul(stacks[0], b)]
            for addend in addends:
                i = 0 if a.dtype.is_floating_point else 1j
                for beta, alpha in ((1, 1), (0, 2 + i), (2, 0.5 - i)):
                    made.append(torch.addmm(addend, a, b, beta=beta, alpha=alpha))
                    made.append(torch.baddbmm(addend, *stacks, beta=beta, alpha=alpha))
            return made

        plain = results()
        with tt.patch(always=True):
            patched = results()
            by_tesela, by_torch = counts()
        is_empty = name in ("no rows", "no columns", "no terms")
        assert (by_tesela > by_torch) != is_empty, (name, tt.report())
        for one, other in zip(plain, patched):
            assert one.shape == other.shape and one.dtype == other.dtype and one.stride() == other.stride()
            assert torch.allclose(one, other, equal_nan=True, **tolerance), name


def test_out(device):
    a, b, c = (random(6, 6, device=device) for _ in range(3))
    nan = torch.full_like(a, float("nan"))
    expected, total = a @ b, c + 2 * (a @ b)
    with tt.patch(always=True):
        out = nan.clone()
        assert torch.mm(a, b, out=out) is out and torch.allclose(out, expected)
        columns = nan.clone().t()
        assert torch.mm(a, b, out=columns) is columns and torch.allclose(columns, expected)
        assert torch.allclose(torch.addmm(c, a, b, alpha=2, out=out), total) and counts()[1] == 0
        same = c.clone()
        torch.addmm(same, a, b, alpha=2, out=same)
        assert torch.allclose(same, total)
        torch.addmm(nan, a, b, beta=0, out=out)
        assert torch.allclose(out, expected)
        torch.bmm(a[None], b[None], out=out[None])
        assert torch.allclose(out, expected) and counts()[1] == 0
        c.clone().addmm_(a, b, alpha=2)
        with pytest.warns(UserWarning, match="resized"):
            resized = torch.mm(a, b, out=torch.ones(2, device=device, dtype=a.dtype))
        assert torch.allclose(resized, expected) and counts()[1] > 0
        with pytest.raises(RuntimeError):
            torch.mm(a, b, out=torch.empty(6, 6, device=device, dtype=torch.int64))


@pytest.mark.parametrize("dims", [1, 2, 3, 4])
def test_wrong_dimensions(device, dims):
    """PyTorch reports them, with patch() as without."""
    square = torch.ones((1,) * (dims - 2) + (2,) * min(dims, 2), device=device)
    other = torch.ones(2, 2, device=device)

    def results():
        made = []
        for call in (torch.mm, torch.bmm, torch.addmm, torch.baddbmm):
            for tensors in ((square, square), (square, other), (other, square)):
                try:
                    made.append(call(*tensors[:1] * ("add" in call.__name__), *tensors).tolist())
                except (RuntimeError, IndexError) as error:
                    made.append(str(error))
        return made

    plain = results()
    with tt.patch(always=True):
        assert results() == plain and results() == plain


def refused_calls(device):
    """Returns calls whose errors, results and shapes are PyTorch's."""
    a, b, c = (random(*shape, device=device, dtype=torch.float32) for shape in ((6, 8), (8, 5), (6, 5)))
    zeros = functools.partial(torch.zeros, device=device)
    calls = []
    if device == "cpu":  # on CUDA, PyTorch accepts these and leaves any of the rows
        calls += [lambda: torch.mm(a, b, out=zeros(1, 5).expand(6, 5)),
                  lambda: torch.mm(a, b, out=zeros(6, 1).expand(6, 5)),
                  lambda: torch.addmm(c, a, b, out=zeros(1, 5).expand(6, 5))]
    for beta in (0, 1, 2):
        for shape in ((7, 7), (7,), (6,), (0,), (2, 6, 5), (6, 0)):
            calls += [functools.partial(torch.addmm, zeros(shape), a, b, beta=beta),
                      functools.partial(torch.addmm, zeros(shape), a, b, beta=beta, out=zeros(6, 5)),
                      functools.partial(torch.baddbmm, zeros(shape), a[None], b[None], beta=beta)]
    for scalars in ({"alpha": 1e300}, {"beta": 1e300}, {"alpha": 1 + 1j}, {"beta": 1 + 1j}):
        calls += [functools.partial(torch.addmm, addend, a, b, **scalars) for addend in (c, c[0])]
        calls.append(functools.partial(torch.baddbmm, c[None], a[None], b[None], **scalars))
    return calls


def test_refused_calls(device):
    calls = refused_calls(device)

    def results():
        made = []
        for call in calls:
            try:
                made.append(call().tolist())
            except Exception as error:
                made.append((type(error), str(error)))
        return made

    plain = results()
    assert sum(isinstance(each, tuple) for each in plain) > 50
    with tt.patch(always=True):
        for _ in range(2):
            for one, other in zip(plain, results()):
                assert one == other
        assert counts()[0] == 0, tt.report()


def test_out_with_common_elements(device):
    """PyTorch accepts some, and writes their elements in its order."""
    a = random(4, 4, device=device)
    with tt.patch(always=True):
        for _ in range(2):
            torch.mm(a, a, out=torch.zeros(16, device=device, dtype=a.dtype).as_strided((4, 4), (1, 1)))
            torch.mm(a, a, out=torch.zeros(8, 8, device=device, dtype=a.dtype)[::2, ::2])
        assert counts() == (2, 2), tt.report()


@pytest.mark.parametrize("options", [{"always": True}, {}])
def test_results_can_be_resized(device, options):
    a, row = random(4, 4, device=device), random(4, device=device)
    stack = a[None]
    with tt.patch(**options):
        for _ in range(4):
            for result in (a @ a, torch.bmm(stack, stack), torch.addmm(row, a, a),
                           torch.addmm(a, a, a, beta=0), torch.baddbmm(row, stack, stack)):
                assert result.untyped_storage().resizable() and result.resize_(900).shape == (900,)


def test_names_of_dimensions(device):
    if _torch_patch._kernels is None:
        pytest.skip("Python's kernels get no names")
    a, b = random(4, 4, device=device).rename("N", "C"), random(4, 4, device=device).rename("C", "D")
    out, stacks = torch.empty_like(a.rename(None)), (random(2, 4, 4, device=device).rename(*"BNC"),) * 2
    for options in ({"always": True}, {}):
        with tt.patch(**options):
            for _ in range(4):
                assert (a @ b).names == torch.mm(a, b, out=out).names == ("N", "D")
                assert torch.bmm(stacks[0], stacks[1].rename(*"BCD")).names == tuple("BND")
                with pytest.raises(RuntimeError, match="duplicate names"):
                    a @ b.rename("C", "N")


def test_addresses_between_elements(device):
    if device == "cuda":
        pytest.skip("CUDA's products need whole elements")
    a = torch.frombuffer(bytearray(65), dtype=torch.float32, offset=1).view(4, 4)
    with tt.patch(always=True):
        for _ in range(3):
            a.clone() @ a.clone()
            assert (a @ a).sum() == 0 and torch.mm(a.clone(), a.clone(), out=a).sum() == 0
        assert counts() == (3, 6), tt.report()


def test_lazy_copies(device):
    """A lazy copy shares memory until it is written, and operands are only read."""
    a, b, c = (random(6, 6, device=device) for _ in range(3))
    expected, before = a @ b, c.clone()
    with tt.patch(always=True):
        for _ in range(3):
            lazy, out = torch._lazy_clone(a), torch._lazy_clone(c)
            assert torch.allclose(torch.mm(lazy, b), expected)
            assert torch.allclose(torch.mm(lazy, b, out=out), expected)
        assert torch.equal(c, before)
        assert torch._C._is_cow_tensor(lazy) or _torch_patch._kernels is None


def test_forks_beside_products(device):
    """A child of a fork begins, whatever the other threads did."""
    if device == "cuda":
        pytest.skip("a child cannot use CUDA")
    script = """
import os, threading, time, torch, tesela.torch
torch.set_num_threads(1)
a = torch.ones(4, 4)
with tesela.torch.patch(always=True):
    ends = threading.Event()
    def work():
        while not ends.is_set():
            for _ in range(100):
                a @ a
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads: thread.start()
    children = []
    for _ in range(60):
        child = os.fork()
        if child == 0:
            os._exit(0)
        children.append(child)
    ends.set()
    for thread in threads: thread.join()
    time.sleep(0.5)
    left = [child for child in children if os.waitpid(child, os.WNOHANG)[0] == 0]
    for child in left: os.kill(child, 9)
    print(len(left))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True,
                          timeout=60)
    assert done.stdout == "0\n", done.stdout + done.stderr


def test_out_that_overlaps(device):
    """PyTorch decides what an overlap gives, with patch() as without."""
    def result(call, first=8):
        memory = torch.arange(48, device=device, dtype=torch.float64)
        a, b, out = memory[:16].view(4, 4), memory[16:32].view(4, 4), memory[first:first + 16].view(4, 4)
        try:
            call(a, b, out)
        except RuntimeError as error:
            return str(error)
        return memory

    for call in (lambda a, b, out: torch.mm(a, b, out=out), lambda a, b, out: torch.mm(a, b, out=a),
                 lambda a, b, out: torch.addmm(b, a, a, out=out),
                 lambda a, b, out: torch.bmm(a[None], b[None], out=b[None])):
        plain = result(call)
        with tt.patch(always=True):
            for _ in range(2):
                result(call, first=32)
            before = counts()[0]
            patched = result(call)
            assert counts()[0] == before
        assert patched == plain if isinstance(plain, str) else torch.equal(patched, plain)


def test_other_tensors_are_left_to_torch(device):
    a = random(4, 4, device=device)
    cases = [lambda: a.long() @ a.long() if device == "cpu" else a @ a, lambda: (a @ a.to_sparse()),
             lambda: torch.sparse.mm(a.to_sparse(), a), lambda: a.to("meta") @ a.to("meta")]
    with tt.patch(always=True):
        for case in cases:
            result = case()
            assert result.shape == (4, 4)
        if device == "cpu":
            small = (3 * a).to(torch.int8)
            assert (small @ small).dtype == torch.int8
        with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
            a @ a[:3]
        with pytest.raises(RuntimeError, match="dtype"):
            a @ a.float()
        with pytest.raises(RuntimeError):
            torch.addmm(a[:2, :2], a, a)
        with torch._subclasses.FakeTensorMode():
            fake = torch.ones(3, 4, device=device)
            assert (fake @ fake.t()).shape == (3, 3)

    class Doubled(torch.Tensor):
        """Subclass whose products are doubled."""

        @classmethod
        def __torch_function__(cls, function, types, arguments=(), keywords=None):
            result = super().__torch_function__(function, types, arguments, keywords or {})
            return result * 2 if function is torch.Tensor.matmul or "matmul" in function.__name__ else result

    with tt.patch(always=True):
        assert torch.allclose(torch.matmul(a.as_subclass(Doubled), a).as_subclass(torch.Tensor), 2 * (a @ a))


def test_transforms_and_gradients(device):
    a, b = random(3, 4, 5, device=device), random(5, 6, device=device)
    per_sample = torch.func.vmap(torch.func.grad(lambda x: torch.sin(x @ b).sum()))
    mapped, jacobian = torch.func.vmap(torch.mm, (0, None)), torch.func.jacrev(lambda x: x @ b)
    plain = per_sample(a), mapped(a, b), jacobian(a[0])
    with tt.patch(always=True):
        patched = per_sample(a), mapped(a, b), jacobian(a[0])
        assert counts()[0] >= 4
        x, y = a[0].clone().requires_grad_(), b.clone().requires_grad_()
        assert torch.autograd.gradcheck(torch.mm, (x, y)) and torch.autograd.gradgradcheck(torch.mm, (x, y))
        assert torch.autograd.gradcheck(torch.nn.functional.linear, (x, y.t().detach(), None))
        with torch.autocast(device, dtype=torch.bfloat16):
            assert (x.float() @ y.float()).dtype == torch.bfloat16
        assert tt.report()[-1].dtype == "bfloat16"
    assert all(torch.allclose(*pair) for pair in zip(plain, patched))


def test_compile(device):
    layer = torch.nn.Linear(8, 6, device=device)
    x = random(5, 8, device=device, dtype=torch.float32)
    plain = layer(x).relu().sum()
    with tt.patch(always=True):
        compiled = torch.compile(lambda x: layer(x).relu().sum(), fullgraph=True, backend="aot_eager")
        assert torch.allclose(compiled(x), plain, rtol=1e-4) and counts()[0] == 1


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_inductor(device, mode):
    if device == "cpu":
        pytest.skip("Inductor compiles C++ for half a minute; on CUDA this runs")
    model = torch_models.Block(64, 4).to(device)
    x = torch.randn(4, 16, 64, device=device)
    plain = torch.autograd.grad(model(x).square().sum(), model.up.weight)[0]
    with tt.patch(always=True):
        compiled = torch.compile(model, fullgraph=True, mode=mode)
        for _ in range(4):
            torch.compiler.cudagraph_mark_step_begin()
            patched = torch.autograd.grad(compiled(x).square().sum(), model.up.weight)[0].clone()
        assert counts()[0] > 0
    assert torch.allclose(plain, patched, rtol=1e-3, atol=1e-3 * plain.abs().max().item())


def test_in_a_graph(device):
    if device == "cpu":
        pytest.skip("graphs need a CUDA device")
    model = torch_models.Block(64, 4).to(device)
    x = torch.randn(4, 16, 64, device=device)
    with tt.patch() as patch, torch.no_grad():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(30):
                model(x)
        torch.cuda.synchronize()
        model(x)
        reasons = [row.reason for row in patch.report()]
        assert all("measured" in reason or "batch" in reason for reason in reasons), reasons
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = model(x)
        x.copy_(torch.randn_like(x))
        graph.replay()
    assert torch.allclose(result, model(x), atol=1e-4)


def test_tf32_where_torch_allows_it(device):
    if device == "cpu":
        pytest.skip("processors compute float32 in float32")
    a, b = (torch.randn(512, 512, device=device) for _ in range(2))
    exact = a.double() @ b.double()
    errors = {}
    for allowed in (False, True):
        before = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = allowed
        try:
            with tt.patch(always=True):
                errors[allowed] = ((a @ b).double() - exact).abs().max().item()
        finally:
            torch.backends.cuda.matmul.allow_tf32 = before
    assert errors[False] < 1e-3 < errors[True]


def test_measured_choice(device):
    a, b = random(64, 64, device=device), random(64, 64, device=device)
    with tt.patch() as patch:
        for _ in range(40):
            result = torch.mm(a, b)
        if device == "cuda":
            torch.cuda.synchronize()
        torch.mm(a, b)
        row, = patch.report()
        assert "measured: tesela" in row.reason and row.tesela + row.torch == 41 and row.tesela >= 11
        assert row[:4] == ("mm", str(a.device), "float64", "64x64x64")
        assert "m x n x k" in str(tt.report())
    assert torch.allclose(result, a @ b)


def test_failures_of_tesela_end_the_race(device, monkeypatch):
    def fail(*arguments, **keywords):
        raise RuntimeError("no memory")

    monkeypatch.setattr(_torch_patch, "matmul", fail)
    monkeypatch.setattr(_torch_patch.Product, "remember", lambda *arguments: False)
    a = random(8, 8, device=device)
    with tt.patch():
        for _ in range(5):
            assert torch.allclose(a @ a, a.mm(a))
        assert counts()[0] == 0 and "no memory" in tt.report()[0].reason


def test_deterministic_mode(device):
    a = random(8, 8, device=device)
    torch.use_deterministic_algorithms(True)
    try:
        with tt.patch():
            for _ in range(30):
                a @ a
            assert counts()[0] == 0 and "deterministic" in tt.report()[0].reason
        with tt.patch(always=True):
            assert torch.equal(a @ a, a @ a) and counts() == (2, 0)
    finally:
        torch.use_deterministic_algorithms(False)


def test_nesting_and_threads(device):
    a = random(8, 8, device=device)
    outer = tt.patch(always=True)
    inner = tt.patch(accuracy="exact", bits="devices")
    assert torch.equal(a @ a, a @ a)
    tt.unpatch()
    a @ a
    assert counts(inner.report()) == (2, 0) and counts(outer.report()) == (1, 0)
    outer.__exit__()
    tt.unpatch()
    a @ a
    assert counts(outer.report()) == (1, 0)
    errors = []

    def work(i):
        try:
            for j in range(30):
                x = random(5 + i, 4 + j % 3, device=device)
                with tt.patch(always=bool(i % 2)):
                    if not torch.allclose(x @ x.t(), (x[:, None] * x[None]).sum(-1)):
                        errors.append((i, j))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_printed_report(device, capsys):
    with tt.patch(report=True, always=True):
        torch.nn.functional.linear(random(3, 4, device=device), random(5, 4, device=device))
    assert "3x5x4" in capsys.readouterr().out


def test_bad_arguments(device):
    a = random(4, 4, device=device)
    with tt.patch(bits="always"), pytest.raises(ValueError, match="any, run, threads, rows or devices"):
        a @ a

def test_decided_products_need_no_python(device, monkeypatch):
    if _torch_patch._kernels is None:
        pytest.skip("the package was built without this version's headers of PyTorch")
    a, b, c = (random(6, 6, device=device) for _ in range(3))
    row, out = random(6, device=device), torch.empty_like(a)
    calls = [lambda: torch.mm(a, b.t()), lambda: torch.addmm(row, a, b), lambda: torch.addmm(c, a, b, beta=2),
             lambda: torch.mm(a, b, out=out), lambda: torch.addmm(c, a, b, out=out), lambda: a.t() @ b]
    plain = [call().clone() for call in calls]
    for options, library in (({"always": True}, "tesela"), ({}, "torch")):
        if library == "torch":
            torch.use_deterministic_algorithms(True)
        try:
            with tt.patch(**options) as patch:
                for call in calls:
                    call()
                with monkeypatch.context() as changed:
                    changed.setattr(_torch_patch.Settings, "find", None)
                    changed.setattr(_torch_patch, "tensor_key", None)
                    for call, expected in zip(calls, plain):
                        assert torch.allclose(call(), expected)
                with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
                    torch.mm(a, random(5, 6, device=device))
            assert counts(patch.report()) == ((12, 1) if library == "tesela" else (0, 13)), patch.report()
            before = counts(patch.report())
            calls[0]()
            assert counts(patch.report()) == before
        finally:
            torch.use_deterministic_algorithms(False)


def test_switches_select_other_products(device):
    a = random(64, 64, device=device, dtype=torch.float32)
    with tt.patch(always=True) as patch:
        for _ in range(3):
            a @ a
        torch.use_deterministic_algorithms(True)
        try:
            assert torch.equal(a @ a, a @ a)
        finally:
            torch.use_deterministic_algorithms(False)
        assert [row.tesela for row in patch.report()] == [3, 2]
        with tt.patch(bits="devices") as inner:
            a @ a
        assert counts(inner.report()) == (1, 0)


SCRIPT = [
    "import ctypes, sys",
    "import torch",
    "def missing(*arguments):",
    '    raise OSError("no kernels")',
    "loader = ctypes.CDLL",
    "ctypes.CDLL = missing",
    "import tesela.torch",
    "from tesela import _torch_patch",
    "ctypes.CDLL = loader",
    "assert _torch_patch._kernels is None",
    "a = torch.randn(6, 6, device=sys.argv[1], dtype=torch.float64)",
    "row = torch.randn(6, device=sys.argv[1], dtype=torch.float64)",
    "plain = a @ a, torch.addmm(row, a, a)",
    "with tesela.torch.patch(always=True):",
    "    for _ in range(3):",
    "        patched = a @ a, torch.addmm(row, a, a)",
    "    assert all(map(torch.allclose, plain, patched))",
    "    assert [row.tesela for row in tesela.torch.report()] == [3, 3]",
]


def test_patch_without_compiled_kernels(device):
    subprocess.run([sys.executable, "-c", "\n".join(SCRIPT), device], check=True)


def synchronizations(profile):
    """Returns the calls of CUDA that wait for a device."""
    return [event.name for event in profile.events()
            if "Synchronize" in event.name or event.name in ("cudaMemcpy", "cuMemcpyDtoH_v2")]


@pytest.mark.parametrize("how", ["eager", "compile", "graph"])
def test_no_wait_for_the_device(device, how):
    if device == "cpu":
        pytest.skip("only a CUDA device is waited for")
    model = torch_models.Block(64, 4).to(device)
    x = torch.randn(4, 16, 64, device=device)
    with tt.patch(always=True), torch.no_grad():
        call = torch.compile(model, fullgraph=True) if how == "compile" else model
        for _ in range(3):
            call(x)
        if how == "graph":
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                call(x)
            call = lambda x: graph.replay()  # noqa: E731
        torch.cuda.synchronize()
        with torch.profiler.profile() as profile:
            for _ in range(3):
                call(x)
        waits = synchronizations(profile)
        assert len(waits) <= 1, waits  # the profiler's own at its end
        assert counts()[0] > 0


def losses(name, device, steps=20):
    """Returns the losses of a training from the same start."""
    model = torch_models.make_model(name, 24, device=device)
    shape = (32,) if name == "perceptron" else (4, 16)
    return [loss.item() for loss in torch_models.train(name, model, shape, steps)]


@pytest.mark.parametrize("name", ["perceptron", "transformer"])
@pytest.mark.parametrize("options", [{"always": True}, {}, {"bits": "rows"}])
def test_training(device, name, options):
    plain = losses(name, device)
    with tt.patch(**options):
        patched = losses(name, device)
        assert counts()[0] > 0
    assert plain[-1] < plain[0]
    assert patched == pytest.approx(plain, rel=1e-4)
