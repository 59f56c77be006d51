"""patch(): products of PyTorch's own operators by tesela.

Kernels of aten::mm, addmm, bmm and baddbmm are replaced at the dispatcher's keys CPU and CUDA. Autograd,
autocast, vmap, functionalization, conjugation and tensor subclasses are above these keys and work as before.
Gradients are PyTorch's formulas, whose products come here again. torch.compile traces the same operators.

Kernels of this file see each new product. A package that was built with PyTorch's headers has kernels in C++
(src/torch/kernels.cpp), too. These time and compute known products without Python.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import pathlib
import threading
import time
import warnings
from typing import NamedTuple

import torch

from ._core import context_address, tensor_key, tensors_overlap
from ._torch_operators import FLOATING, accuracy_word, asks_of, is_bias, matmul

_NAMES = ("mm", "mm.out", "addmm", "addmm.out", "bmm", "bmm.out", "baddbmm", "baddbmm.out")
#: Timed calls of each library before one is chosen, after an untimed call of both. On the processor, tesela
#: caches a plan at the eighth call.
_ROUNDS = 10
#: Most products of a patch(); the oldest is forgotten.
_PRODUCTS = 4096
#: A product moves to tesela if it takes less than this fraction of PyTorch's time.
_GAIN = 0.97
_capturing = torch.cuda.is_current_stream_capturing
_is_deterministic = torch._C._get_deterministic_algorithms
#: What torch.backends.cuda.matmul.fp32_precision and allow_tf32 set; reading these takes a microsecond.
_precision = torch._C._get_fp32_precision_getter
#: Choices, by their number in the compiled kernels.
_LIBRARIES = ("torch", "tesela", None)
_lock = threading.RLock()
_settings: list[Settings] = []
_active: Settings | None = None
_library = None
_last: Settings | None = None
_numbers = itertools.count(1)


def _load_kernels():
    """Returns the compiled kernels, or None if this package has none for this version of PyTorch."""
    try:
        kernels = ctypes.CDLL(str(pathlib.Path(__file__).with_name("_torch_kernels.so")))
    except OSError:
        return None
    kernels.tesela_torch_version.restype = ctypes.c_char_p
    for name in ("activate", "forget"):
        getattr(kernels, f"tesela_torch_{name}").argtypes = [ctypes.c_int64]
    kernels.tesela_torch_state.argtypes = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
    kernels.tesela_torch_remember.argtypes = [ctypes.c_int64, ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p,
                                              ctypes.c_char_p]
    is_right = kernels.tesela_torch_version().decode() == torch.__version__.partition("+")[0]
    return kernels if is_right else None


_kernels = _load_kernels()


class Row(NamedTuple):
    """Products of one operator, type and shape in a report.

    Attributes
    ----------
    operator, device, dtype, shape : str
        "addmm", "cuda:0", "float32", "512x256x1024" (m x n x k; with a batch in front).
    tesela, torch : int
        Numbers of calls by each library.
    reason : str
        Reason of the last choice.
    """

    operator: str
    device: str
    dtype: str
    shape: str
    tesela: int
    torch: int
    reason: str


class Report(list):
    """List of Row; its text is a table."""

    def __str__(self) -> str:
        if not self:
            return "tesela.torch: no product"
        lines = [("operator", "device", "type", "m x n x k", "tesela", "torch", "reason"),
                 *(tuple(map(str, row)) for row in self)]
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
                         for line in lines)


class Timer:
    """Time of a call: of the processor, or of the current stream of a device, without waiting for it."""

    __slots__ = ("begin", "end", "stream")

    def __init__(self, device):
        self.stream = torch.cuda.current_stream(device) if device.type == "cuda" else None
        self.begin = self.now()

    def now(self):
        if self.stream is None:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record(self.stream)
        return event

    def stop(self) -> None:
        self.end = self.now()

    def is_known(self) -> bool:
        return self.stream is None or self.end.query()

    def microseconds(self) -> float:
        if self.stream is None:
            return (self.end - self.begin) * 1e6
        return self.begin.elapsed_time(self.end) * 1e3


class Product:
    """Calls with one operator, types, shapes and strides: what computes them, and why."""

    __slots__ = ("names", "device", "chosen", "reason", "tesela", "torch", "step", "timers", "number")

    def __init__(self, names: tuple, device, chosen: str | None, reason: str):
        self.names, self.device, self.chosen, self.reason = names, device, chosen, reason
        self.number = next(_numbers)
        self.tesela = self.torch = self.step = 0
        self.timers: dict = {"tesela": [], "torch": []}

    def run(self, by_tesela, by_torch):
        """Computes the product by the next library of the race. Ends the race when all times are known."""
        if self.device.type == "cuda" and _capturing():
            self.torch += 1
            return by_torch()
        with _lock:
            step, self.step = self.step, self.step + 1
        library = "tesela" if step % 2 else "torch"
        call = by_tesela if step % 2 else by_torch
        timer = Timer(self.device) if 2 <= step < 2 + 2 * _ROUNDS else None
        try:
            result = call()
        except Exception as error:
            if library == "torch":
                raise
            self.choose("torch", f"tesela: {error}")
            self.torch += 1
            return by_torch()
        setattr(self, library, getattr(self, library) + 1)
        if timer:
            timer.stop()
            self.timers[library].append(timer)
        if step >= 1 + 2 * _ROUNDS:
            self.finish()
        return result

    def finish(self) -> None:
        """Chooses the faster library, if all times are known."""
        by_tesela, by_torch = (list(self.timers[library]) for library in ("tesela", "torch"))
        if not by_tesela or not by_torch or not all(timer.is_known() for timer in by_tesela + by_torch):
            return
        one, other = (min(timer.microseconds() for timer in timers) for timers in (by_tesela, by_torch))
        self.choose("tesela" if one < _GAIN * other else "torch",
                    f"measured: tesela {one:.4g} us, torch {other:.4g} us")

    def remember(self, asks: dict) -> bool:
        """Lets the compiled kernels compute later calls like the current one, if they can."""
        if _kernels is None:
            return False
        texts = (None if asks.get(name) is None else asks[name].encode() for name in ("accuracy", "bits"))
        return _kernels.tesela_torch_remember(self.number, _LIBRARIES.index(self.chosen), context_address(),
                                              *texts) == 1

    def is_raced_without_python(self, settings: Settings, a) -> bool:
        """Returns True if the compiled kernels compute later calls; then PyTorch computes this one."""
        is_raced = (not (self.device.type == "cuda" and _capturing()) and self.step == 0
                    and self.remember(_asks(settings, a)))
        self.torch += is_raced
        return is_raced

    def learn(self) -> tuple[int, int]:
        """Takes the choice of the compiled kernels. Returns all calls by tesela and by PyTorch."""
        calls, times = (ctypes.c_int64 * 2)(), (ctypes.c_double * 2)()
        library = -1 if _kernels is None else _kernels.tesela_torch_state(self.number, calls, times)
        if library >= 0 and self.chosen != _LIBRARIES[library]:
            self.choose(_LIBRARIES[library], f"measured: tesela {times[1]:.4g} us, torch {times[0]:.4g} us"
                        if times[0] else "tesela failed")
        return self.tesela + calls[1], self.torch + calls[0]

    def choose(self, chosen: str, reason: str) -> None:
        self.chosen, self.reason = chosen, reason
        self.timers = {"tesela": [], "torch": []}


class Settings:
    """One patch() with its products. It is a context manager whose end is unpatch()."""

    def __init__(self, accuracy, bits, always: bool, report: bool):
        self.accuracy, self.bits, self.always, self.prints = accuracy_word(accuracy), bits, always, report
        self.products: dict = {}
        self.number = next(_numbers)

    def __enter__(self) -> Settings:
        return self

    def __exit__(self, *error) -> None:
        _remove(self)

    def report(self) -> Report:
        with _lock:
            products = list(self.products.values())
        return Report(Row(*each.names, *each.learn(), each.reason) for each in products)

    def forget_kernels(self) -> None:
        """Takes the compiled kernels' counts, and frees their memory."""
        if _kernels is not None:
            for product in self.products.values():
                product.tesela, product.torch = product.learn()
            _kernels.tesela_torch_forget(self.number)

    def find(self, key, name: str, tensors: tuple, out, scalars: tuple, is_readable: bool) -> Product:
        """Returns the product of a call, which is new if no call had these operands."""
        with _lock:
            found = self.products.get(key)
            if len(self.products) >= _PRODUCTS:
                self.products.pop(next(iter(self.products)))
            if found is None:
                found = self.products[key] = self.new_product(name, tensors, out, scalars, is_readable)
            return found

    def new_product(self, name: str, tensors: tuple, out, scalars: tuple, is_readable: bool) -> Product:
        a, b = tensors[-2:]
        sizes = (*a.shape[:-1], *b.shape[-1:], *a.shape[-1:])
        names = (name, str(a.device), str(a.dtype)[len("torch."):], "x".join(map(str, sizes)))
        reason = refuse(tensors, out, scalars, 3 if "bmm" in name else 2)
        if not reason and not is_readable:
            reason = "memory that tesela does not read"
        if reason:
            return Product(names, a.device, "torch", reason)
        if self.accuracy is not None or self.bits is not None:
            return Product(names, a.device, "tesela", "accuracy or bits of patch()")
        if self.always:
            return Product(names, a.device, "tesela", "always=True of patch()")
        if _is_deterministic():
            return Product(names, a.device, "torch", "deterministic algorithms: times choose nothing")
        if a.is_cuda and a.dim() == 3:
            return Product(names, a.device, "torch", "a batch on a device takes Python's time")
        return Product(names, a.device, None, "few calls, not measured yet")


def elements_overlap(tensor) -> bool:
    """Returns True if elements may share memory."""
    reach = 0
    for stride, size in sorted(zip(tensor.stride(), tensor.shape)):
        if size > 1 and stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


def expands(shape, other) -> bool:
    """Returns True if a tensor of the first shape can be repeated to the other one."""
    return len(shape) <= len(other) and all(size in (1, wanted)
                                            for size, wanted in zip(reversed(shape), reversed(other)))


def refuse(tensors: tuple, out, scalars: tuple, dims: int) -> str:
    """Returns the reason why PyTorch computes a product; "": tesela may."""
    *addends, a, b = tensors
    types = {tensor.dtype for tensor in tensors}
    if len(types) > 1 or a.dtype not in FLOATING:
        return "type " + ", ".join(sorted(str(dtype)[len("torch."):] for dtype in types))
    devices = {tensor.device for tensor in tensors}
    if (a.dim() != dims or b.dim() != dims or a.shape[-1] != b.shape[-2] or a.shape[:-2] != b.shape[:-2]
            or len(devices) > 1):
        return "wrong shapes or devices, which PyTorch reports"
    if a.numel() == 0 or b.numel() == 0:
        return "no elements"
    shape = (*a.shape[:-1], b.shape[-1])
    if addends and not expands(addends[0].shape, shape):
        return "wrong shape of the addend, which PyTorch reports"
    if any(isinstance(scalar, complex) and not a.is_complex() or not abs(scalar) <= torch.finfo(a.dtype).max
           for scalar in scalars):
        return "alpha or beta is no number of the type"
    if out is not None and (out.dtype != a.dtype or out.shape != shape or out.is_neg() or out.is_conj()
                            or out.device != a.device):
        return "out has another shape, type or place"
    if out is not None and elements_overlap(out):
        return "elements of out overlap"
    return ""


def _asks(settings: Settings, a) -> dict:
    """Returns the keywords of a product, from the arguments of patch() and from PyTorch's switches."""
    asks = asks_of(a, settings.accuracy, settings.bits)
    if (a.is_cuda and a.dtype is torch.float32 and settings.accuracy is None
            and _precision("cuda", "matmul") == "tf32"):
        asks["accuracy"] = "tf32"
    return asks


def _multiply(settings: Settings, tensors: tuple, out, beta, alpha):
    """Computes a product by tesela. `tensors`: A and B, after the addend of a sum."""
    *addends, a, b = tensors
    asks, shape = _asks(settings, a), (*a.shape[:-1], b.shape[-1])
    if out is None:
        out = a.new_empty(shape)  # tensors that matmul makes cannot be resized
    if not addends or beta == 0:
        return matmul(a, b, out=out, alpha=alpha, **asks)
    addend = addends[0]
    if beta == 1 and a.dim() == 2 and addend is not out and is_bias(addend, *shape):
        return matmul(a, b, out=out, alpha=alpha, bias=addend, **asks)
    if out is not addend:
        out.copy_(addend.expand(shape))
    return matmul(a, b, out=out, alpha=alpha, beta=beta, **asks)


def _kernel(name: str, original):
    """Returns the kernel of an operator."""
    is_sum = "add" in name

    def kernel(keys, *tensors, out=None, beta=1, alpha=1):
        def by_torch():
            given = {"beta": beta, "alpha": alpha} if is_sum else {}
            return original(keys, *tensors, **given, **({} if out is None else {"out": out}))

        settings = _active
        if settings is None:
            return by_torch()
        words = tensor_key(*tensors) if out is None else tensor_key(*tensors, out)
        key = (name, _is_deterministic(), words, beta, alpha, out is tensors[0])
        product = settings.products.get(key) if words else None
        if product is None:
            key = key if words else (name, *((tensor.dtype, tensor.shape) for tensor in tensors))
            product = settings.find(key, name, tensors, out, (beta, alpha), words is not None)
        chosen = product.chosen
        if chosen != "torch" and out is not None:
            inputs = tensors[1:] if is_sum and out is tensors[0] else tensors
            chosen = "torch" if tensors_overlap(out, *inputs) else chosen
        if chosen == "torch":
            product.torch += 1
            if chosen == product.chosen:
                product.remember({})
            return by_torch()
        if chosen:
            product.tesela += 1
            result = _multiply(settings, tensors, out, beta, alpha)
            product.remember(_asks(settings, tensors[-1]))
            return result
        if product.is_raced_without_python(settings, tensors[-1]):
            return by_torch()
        return product.run(lambda: _multiply(settings, tensors, out, beta, alpha), by_torch)

    return kernel


def _register() -> None:
    """Replaces the kernels, once. They stay, because other threads may be inside, and pass calls on."""
    global _library
    if _library is not None:
        return
    _library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*other operators may also be overridden")
        for key in ("CPU", "CUDA") if torch.backends.cuda.is_built() else ("CPU",):
            for name in _NAMES:
                original = torch.library.get_kernel(f"aten::{name}", key).call_boxed
                kernel = _kernel(name.partition(".")[0], original)
                _library.impl(name, kernel, key, with_keyset=True, allow_override=True)
    if _kernels is not None and _kernels.tesela_torch_register(torch.backends.cuda.is_built()) == 0:
        os.register_at_fork(after_in_child=lambda: _kernels.tesela_torch_forget(0))


def _activate(settings: Settings | None) -> None:
    global _active
    _active = settings
    if _kernels is not None:
        _kernels.tesela_torch_activate(settings.number if settings else 0)


def patch(*, accuracy=None, bits=None, always: bool = False, report: bool = False) -> Settings:
    """Sends products of PyTorch's tensors to tesela: torch.mm, addmm, bmm, matmul, @, F.linear, nn.Linear.

    A product that recurs is computed by both libraries in turn, and timed. Then the faster one computes it.
    The patch holds for all threads, until unpatch() or the end of a `with`. An inner patch() replaces it.

    Parameters
    ----------
    accuracy, bits : optional
        Guarantee of each product of floating-point numbers, as of tesela.matmul. tesela computes them all.
    always : bool
        tesela computes all products that it can, faster or not.
    report : bool
        The end of the patch prints report().
    """
    global _last
    made = Settings(accuracy, bits, always, report)
    with _lock:
        _register()
        _settings.append(made)
        _last = made
        _activate(made)
    return made


def _remove(settings: Settings) -> None:
    with _lock:
        if settings not in _settings:
            return
        _settings.remove(settings)
        _activate(_settings[-1] if _settings else None)
        settings.forget_kernels()
    if settings.prints:
        print(settings.report())


def unpatch() -> None:
    """Ends the last patch() that has not ended. Without one it does nothing."""
    with _lock:
        if _settings:
            _remove(_settings[-1])


def report() -> Report:
    """Returns which products the current patch(), or else the last one, sent where, and why."""
    settings = _active or _last
    return settings.report() if settings else Report()
