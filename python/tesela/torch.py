"""Products of PyTorch's tensors by tesela, with gradients, in torch.compile, autocast, vmap and CUDA graphs.

>>> import torch, tesela.torch
>>> c = tesela.torch.mm(a, b, bits="rows")
>>> with tesela.torch.patch():        # torch.mm, nn.Linear, @ ... here, where tesela is faster
...     train(model)
"""

from __future__ import annotations

try:
    import torch
except ImportError as error:
    raise ImportError("tesela.torch needs PyTorch 2.9 or later, and PyTorch is not installed") from error
if not hasattr(getattr(torch, "library", None), "get_kernel"):
    raise ImportError(f"tesela.torch needs PyTorch 2.9 or later (torch.library.get_kernel), and this is "
                      f"{torch.__version__}; tesela.matmul multiplies tensors of every version")

from ._torch_operators import FLOATING, accuracy_word, activated, call, kernels, matmul
from ._torch_patch import Report, patch, report, unpatch

__all__ = ["Linear", "Report", "addmm", "baddbmm", "bmm", "inductor_mm", "int_mm", "linear",
           "matmul_grouped", "mm", "patch", "report", "scaled_mm", "unpatch"]

_operators = torch.ops.tesela
_is_compiling = torch.compiler.is_compiling
_dispatch_modes = torch._C._len_torch_dispatch_stack
_transforms = torch._C._functorch.peek_interpreter_stack
_has_autocast = torch._C._is_any_autocast_enabled
_is_traced = torch._C._get_tracing_state
_is_deterministic = torch._C._get_deterministic_algorithms
_has_grad = torch.is_grad_enabled
_TYPES = (torch.Tensor, torch.nn.Parameter)


def _is_direct(*tensors) -> bool:
    """Returns True if only the operator's kernel sees this call: no gradient, mode, transform or trace."""
    if (_is_compiling() or _dispatch_modes() or _has_autocast() or _transforms() is not None
            or _is_traced() is not None):
        return False
    has_grad = _has_grad()
    for tensor in tensors:
        if tensor is not None and (type(tensor) not in _TYPES or (has_grad and tensor.requires_grad)
                                   or not (tensor.is_cpu or tensor.is_cuda)):
            return False
    return True


def _call(name: str, *tensors, accuracy, bits, **keywords):
    """Calls an operator: its kernel at once if that is all, and a torch.autograd.Function in transforms."""
    keywords.update(accuracy=accuracy_word(accuracy), bits=bits)
    if _is_direct(*tensors):
        return kernels[name](*tensors, **keywords)
    return call(name, *tensors, **keywords)


def mm(a, b, *, accuracy=None, bits=None):
    """Multiplies two matrices, as torch.mm.

    Parameters
    ----------
    a, b : Tensor
        m x k and k x n, of one floating-point or complex type.
    accuracy, bits : optional
        A guarantee, as of tesela.matmul. Products of the backward pass have it, too.
    """
    if (accuracy is None and bits is None and a.dtype is b.dtype and a.dtype in FLOATING
            and a.dim() == 2 == b.dim() and _is_direct(a, b) and not _is_deterministic()):
        try:
            return matmul(a, b, device="cpu") if a.is_cpu else matmul(a, b)
        except ValueError:  # the operator raises it as PyTorch does
            pass
    return _call("mm", a, b, accuracy=accuracy, bits=bits)


def bmm(a, b, *, accuracy=None, bits=None):
    """Multiplies matrices of two batches, as torch.bmm."""
    return _call("bmm", a, b, accuracy=accuracy, bits=bits)


def addmm(input, a, b, *, beta=1, alpha=1, accuracy=None, bits=None):
    """Returns beta input + alpha a b, as torch.addmm. With beta = 0 the input is not read."""
    return _call("addmm", input, a, b, beta=beta, alpha=alpha, accuracy=accuracy, bits=bits)


def baddbmm(input, a, b, *, beta=1, alpha=1, accuracy=None, bits=None):
    """Returns beta input + alpha a b for matrices of batches, as torch.baddbmm."""
    return _call("baddbmm", input, a, b, beta=beta, alpha=alpha, accuracy=accuracy, bits=bits)


def linear(x, weight, bias=None, *, activation=None, accuracy=None, bits=None):
    """Returns activation(x weight' + bias), as torch.nn.functional.linear.

    Parameters
    ----------
    x, weight, bias : Tensor
        (..., k), (n, k) and (n,); the bias is optional.
    activation : {"relu", "gelu", "gelu_tanh"}, optional
        Part of the product's kernel. With gradients a gelu is a step of its own, which needs its input later.
    accuracy, bits : optional
        A guarantee, as of tesela.matmul. Products of the backward pass have it, too.
    """
    needs_input = activation in ("gelu", "gelu_tanh") and _has_grad() and any(
        each is not None and each.requires_grad for each in (x, weight, bias))
    result = _call("linear", x, weight, bias, activation=None if needs_input else activation,
                   accuracy=accuracy, bits=bits)
    return activated(result, activation) if needs_input else result


def scaled_mm(a, b, scale_a=None, scale_b=None, bias=None, *, dtype=None, activation=None, accuracy=None,
              bits=None):
    """Returns diag(scale_a) a b diag(scale_b) + bias of float8 or 8-bit integers, without a gradient.

    Parameters
    ----------
    scale_a, scale_b : Tensor of float32, or float, optional
        One number, m numbers for `a`, n numbers for `b`.
    dtype : torch.dtype, optional
        float32 (default), bfloat16 or float16.
    """
    scale_a, scale_b = (torch.full((), scale, device=a.device) if isinstance(scale, (int, float)) else scale
                        for scale in (scale_a, scale_b))
    return _operators.scaled_mm(a, b, scale_a, scale_b, bias, dtype=dtype, activation=activation,
                                accuracy=accuracy_word(accuracy), bits=bits)


def int_mm(a, b):
    """Multiplies matrices of int8 or uint8. The result is int32, exact modulo 2^32."""
    return _operators.int_mm(a, b)


def inductor_mm(a, b, *, out):
    """Writes a product to `out`: a candidate of torch.compile, which measures it and its own kernels.

    >>> torch._inductor.config.external_matmul = [tesela.torch.inductor_mm]
    """
    return matmul(a, b, out=out)


def matmul_grouped(a, b, *, accuracy=None, bits=None):
    """Multiplies pairs of matrices of different sizes, such as the experts of a network. Returns a list."""
    a, b = list(a), list(b)
    if not a and not b:  # no tensor selects a device
        return []
    if not _is_compiling() and _transforms() is not None:
        return [mm(x, y, accuracy=accuracy, bits=bits) for x, y in zip(a, b, strict=True)]
    return _operators.matmul_grouped(a, b, accuracy=accuracy_word(accuracy), bits=bits)


class Linear(torch.nn.Linear):
    """torch.nn.Linear by tesela.torch.linear: the same parameters, and an activation, accuracy and bits.

    >>> layer = tesela.torch.Linear(512, 256, activation="relu", bits="rows")
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None, *, activation=None,
                 accuracy=None, bits=None):
        super().__init__(in_features, out_features, bias, device, dtype)
        self.activation, self.accuracy, self.bits = activation, accuracy, bits

    def forward(self, x):
        return linear(x, self.weight, self.bias, activation=self.activation, accuracy=self.accuracy,
                      bits=self.bits)

    def extra_repr(self):
        asks = ((name, getattr(self, name)) for name in ("activation", "accuracy", "bits"))
        words = (f"{name}={word}" for name, word in asks if word is not None)
        return ", ".join([super().extra_repr(), *words])
