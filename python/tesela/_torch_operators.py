"""Operators `torch.ops.tesela.*`: kernels, shapes, gradients, autocast and vmap."""

from __future__ import annotations

import math
import numbers
from functools import partial

import torch

from . import _core

#: Types of products with gradients. A and B have one type, which is the result's.
FLOATING = (torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.complex64, torch.complex128)
BYTES = (torch.int8, torch.uint8)
FLOAT8 = (torch.float8_e4m3fn, torch.float8_e5m2)
ACTIVATIONS = (None, "relu", "gelu", "gelu_tanh")
_ASKS = "str? accuracy=None, str? bits=None"
_AUTOCAST_KEYS = {"cpu": "AutocastCPU", "cuda": "AutocastCUDA"}

#: Functions that compute on tensors of the processor or of a CUDA device, by operator.
kernels: dict = {}
#: Functions that torch.func.grad and vmap of it need, by operator.
transformed: dict = {}
_library = torch.library.Library("tesela", "DEF")
matmul = _core.matmul


def accuracy_word(accuracy) -> str | None:
    """Returns an accuracy as the text that operators take."""
    if isinstance(accuracy, numbers.Real) and not isinstance(accuracy, bool):
        return repr(float(accuracy))
    return accuracy


def asks_of(tensor, accuracy, bits) -> dict:
    """Returns the keywords of a product. PyTorch's deterministic mode asks for the same bits in each run."""
    if bits is None and torch.are_deterministic_algorithms_enabled():
        bits = "run"
    asks = {"accuracy": accuracy, "bits": bits}
    if tensor.is_cpu:  # other products of the host may be computed on a device
        asks["device"] = "cpu"
    return asks


def check_pair(a, b, dims: int, types=FLOATING, same: bool = True) -> None:
    """Raises unless A and B are matrices, or batches of matrices, that can be multiplied."""
    if a.dim() != dims or b.dim() != dims:
        raise RuntimeError(f"a has {a.dim()} dimensions and b {b.dim()}: {dims} are expected")
    if a.shape[-1] != b.shape[-2] or a.shape[:-2] != b.shape[:-2]:
        raise RuntimeError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}: the shapes do not fit a product")
    if a.dtype not in types or b.dtype not in types or (same and a.dtype != b.dtype):
        names = ", ".join(str(dtype)[len("torch."):] for dtype in types)
        rule = "both must be one" if same else "possible is each"
        raise RuntimeError(f"a is {a.dtype} and b is {b.dtype}: {rule} of {names}")
    if a.device != b.device:
        raise RuntimeError(f"a is on {a.device} and b on {b.device}: both must be on one device")


def conjugate_transpose(matrix):
    return matrix.mH if matrix.is_complex() else matrix.mT


def define(schema: str, kernel, fake, *, backward=None, setup=None, vmap=None) -> None:
    """Registers an operator for tensors on the processor and on CUDA devices."""
    name = schema[:schema.index("(")]
    _library.define(schema, tags=(torch.Tag.pt2_compliant_tag, torch.Tag.flexible_layout))
    kernels[name] = kernel
    for key in ("CPU", "CUDA"):
        _library.impl(name, kernel, key)
    torch.library.register_fake(f"tesela::{name}", fake, lib=_library)
    if backward:
        torch.library.register_autograd(f"tesela::{name}", backward, setup_context=setup, lib=_library)
        transformed[name] = function_of(setup, backward)
    torch.library.register_vmap(f"tesela::{name}", vmap or looped(name), lib=_library)


def function_of(setup, backward):
    """Returns a torch.autograd.Function whose last argument is the operator with its keywords.

    Gradients of register_autograd() do not work in torch.func.grad.
    """

    class Product(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(*inputs):
            *tensors, call = inputs
            return call(*tensors)

        @staticmethod
        def setup_context(ctx, inputs, output):
            *tensors, call = inputs
            setup(ctx, tensors, call.keywords, output)

        @staticmethod
        def backward(ctx, gradient):
            return *backward(ctx, gradient), None

    return Product


def call(name: str, *tensors, **keywords):
    """Calls an operator. In transforms of torch.func it is a torch.autograd.Function."""
    operator = getattr(torch.ops.tesela, name).default
    if not torch.compiler.is_compiling() and torch._C._functorch.peek_interpreter_stack() is not None:
        return transformed[name].apply(*tensors, partial(operator, **keywords))
    return operator(*tensors, **keywords)


def define_autocast(name: str) -> None:
    """Makes an operator compute in autocast's type, as torch.mm does."""
    operator = getattr(torch.ops.tesela, name).default

    def cast(value, kind: str):
        if isinstance(value, torch.Tensor):
            is_cast = value.is_floating_point() and value.dtype != torch.float64 and value.device.type == kind
            return value.to(torch.get_autocast_dtype(kind)) if is_cast else value
        if isinstance(value, (list, tuple)):
            return [cast(item, kind) for item in value]
        return value

    for kind, key in _AUTOCAST_KEYS.items():
        keys = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))

        def kernel(*arguments, kind=kind, keys=keys, **keywords):
            with torch._C._ExcludeDispatchKeyGuard(keys):
                return operator(*(cast(value, kind) for value in arguments), **keywords)

        _library.impl(name, kernel, key)


def with_shape(result, shape):
    """Returns a new result in another shape. It is no view, so programs may change it in place."""
    return torch.ops.aten._unsafe_view(result, shape)


# --- vmap ---


def looped(name: str):
    """Returns a rule of vmap that calls the operator for each sample."""

    def rule(info, in_dims, *arguments, **keywords):
        operator = getattr(torch.ops.tesela, name).default

        def sample(value, dim, i):
            if isinstance(value, (list, tuple)):
                return [sample(item, one, i) for item, one in zip(value, dim)]
            return value if dim is None else value.select(dim, i)

        results = [operator(*(sample(value, dim, i) for value, dim in zip(arguments, in_dims)), **keywords)
                   for i in range(info.batch_size)]
        if isinstance(results[0], (list, tuple)):
            return [torch.stack(items) for items in zip(*results)], [0] * len(results[0])
        return torch.stack(results), 0

    return rule


def batch_first(tensor, dim, size: int):
    """Returns the tensor with vmap's dimension in front, repeated without a copy if it has none."""
    return tensor.expand(size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)


def mm_vmap(info, in_dims, a, b, **keywords):
    a, b = (batch_first(x, dim, info.batch_size) for x, dim in zip((a, b), in_dims))
    return torch.ops.tesela.bmm(a, b, **keywords), 0


def bmm_vmap(info, in_dims, a, b, **keywords):
    a, b = (batch_first(x, dim, info.batch_size) for x, dim in zip((a, b), in_dims))
    result = torch.ops.tesela.bmm(a.flatten(0, 1), b.flatten(0, 1), **keywords)
    return with_shape(result, (*a.shape[:2], *result.shape[1:])), 0


# --- mm, bmm ---


def product_kernel(dims: int):
    def kernel(a, b, *, accuracy=None, bits=None):
        check_pair(a, b, dims)
        return matmul(a, b, **asks_of(a, accuracy, bits))

    return kernel


def product_fake(dims: int):
    def fake(a, b, *, accuracy=None, bits=None):
        check_pair(a, b, dims)
        return a.new_empty((*a.shape[:-1], b.shape[-1]))

    return fake


def product_setup(ctx, inputs, keyword_only_inputs, output):
    ctx.save_for_backward(*inputs)
    ctx.asks = keyword_only_inputs


def product_backward(name: str):
    def backward(ctx, gradient):
        a, b = ctx.saved_tensors
        needs_a, needs_b = ctx.needs_input_grad[:2]
        return (call(name, gradient, conjugate_transpose(b), **ctx.asks) if needs_a else None,
                call(name, conjugate_transpose(a), gradient, **ctx.asks) if needs_b else None)

    return backward


# --- addmm, baddbmm ---


def is_bias(addend, m: int, n: int) -> bool:
    """Returns True if the product's epilogue can add this tensor: a row or a column."""
    shape = tuple(addend.shape)
    return shape in ((n,), (1, n)) or (shape == (m, 1) and n != 1)


def sum_kernel(dims: int):
    def kernel(addend, a, b, *, beta=1, alpha=1, accuracy=None, bits=None):
        check_pair(a, b, dims)
        check_addend(addend, a)
        asks = asks_of(a, accuracy, bits)
        shape = (*a.shape[:-1], b.shape[-1])
        if beta == 1 and dims == 2 and is_bias(addend, *shape):
            return matmul(a, b, alpha=alpha, bias=addend, **asks)
        expanded = addend.expand(shape)  # raises the message of a wrong shape
        if beta == 0:
            return matmul(a, b, alpha=alpha, **asks)
        out = a.new_empty(shape)
        out.copy_(expanded)
        return matmul(a, b, out=out, alpha=alpha, beta=beta, **asks)

    return kernel


def check_addend(addend, a) -> None:
    if addend.dtype != a.dtype or addend.device != a.device:
        raise RuntimeError(f"input is {addend.dtype} on {addend.device}, and a is {a.dtype} on {a.device}")


def sum_fake(dims: int):
    def fake(addend, a, b, *, beta=1, alpha=1, accuracy=None, bits=None):
        check_pair(a, b, dims)
        check_addend(addend, a)
        shape = (*a.shape[:-1], b.shape[-1])
        addend.expand(shape)  # raises the message of a wrong shape
        return a.new_empty(shape)

    return fake


def sum_setup(ctx, inputs, keyword_only_inputs, output):
    addend, a, b = inputs
    ctx.save_for_backward(a, b)
    ctx.addend_shape = addend.shape
    ctx.alpha, ctx.beta = keyword_only_inputs["alpha"], keyword_only_inputs["beta"]
    ctx.asks = {name: keyword_only_inputs[name] for name in ("accuracy", "bits")}


def conjugated(scalar):
    return scalar.conjugate() if isinstance(scalar, complex) else scalar


def sum_backward(name: str):
    def backward(ctx, gradient):
        needs_addend, needs_a, needs_b = ctx.needs_input_grad[:3]
        a, b = ctx.saved_tensors
        # A sum with beta = 0 scales the product by alpha and reads no addend.
        scaled = {"alpha": conjugated(ctx.alpha), "beta": 0, **ctx.asks}
        empty = gradient.new_zeros(())
        return (gradient.mul(conjugated(ctx.beta)).sum_to_size(ctx.addend_shape) if needs_addend else None,
                call(name, empty, gradient, conjugate_transpose(b), **scaled) if needs_a else None,
                call(name, empty, conjugate_transpose(a), gradient, **scaled) if needs_b else None)

    return backward


# --- linear ---


def as_rows(tensor):
    """Returns a matrix of the lines along the last dimension. Sizes of 0 leave nothing to infer from."""
    return tensor.reshape(math.prod(tensor.shape[:-1]), tensor.shape[-1])


def linear_kernel(x, weight, bias=None, *, activation=None, accuracy=None, bits=None):
    check_linear(x, weight, bias, activation)
    is_matrix = x.dim() == 2
    result = matmul(x if is_matrix else as_rows(x), weight.t(), bias=bias, activation=activation,
                    **asks_of(x, accuracy, bits))
    return result if is_matrix else with_shape(result, (*x.shape[:-1], weight.shape[0]))


def check_linear(x, weight, bias, activation) -> None:
    if x.dim() < 1 or weight.dim() != 2 or x.shape[-1] != weight.shape[1]:
        raise RuntimeError(f"x is {tuple(x.shape)} and weight is {tuple(weight.shape)}: (..., k) and (n, k) "
                           "are expected")
    if x.dtype not in FLOATING or x.dtype != weight.dtype or (bias is not None and bias.dtype != x.dtype):
        types = [str(each.dtype) for each in (x, weight, bias) if each is not None]
        raise RuntimeError(f"x, weight and bias are {', '.join(types)}: one floating-point type is expected")
    if bias is not None and tuple(bias.shape) != (weight.shape[0],):
        raise RuntimeError(f"bias is {tuple(bias.shape)}: ({weight.shape[0]},) is expected")
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation is {activation!r}: use relu, gelu or gelu_tanh")
    if activation and x.is_complex():
        raise RuntimeError(f"x is {x.dtype}, but complex numbers have no {activation}")


def linear_fake(x, weight, bias=None, *, activation=None, accuracy=None, bits=None):
    check_linear(x, weight, bias, activation)
    return x.new_empty((*x.shape[:-1], weight.shape[0]))


def linear_setup(ctx, inputs, keyword_only_inputs, output):
    x, weight, bias = inputs
    ctx.activation = keyword_only_inputs["activation"]
    ctx.asks = {name: keyword_only_inputs[name] for name in ("accuracy", "bits")}
    ctx.save_for_backward(x, weight, bias, output if ctx.activation == "relu" else None)


def activated(x, activation: str | None):
    """Returns the activation of x, by PyTorch."""
    if activation == "relu":
        return torch.relu(x)
    if activation:
        return torch.nn.functional.gelu(x, approximate="tanh" if activation == "gelu_tanh" else "none")
    return x


def linear_backward(ctx, gradient):
    x, weight, bias, output = ctx.saved_tensors
    if ctx.activation == "relu":
        gradient = torch.where(output > 0, gradient, 0)
    elif ctx.activation:
        gradient = torch.ops.aten.gelu_backward(
            gradient, call("linear", x, weight, bias, activation=None, **ctx.asks),
            approximate="tanh" if ctx.activation == "gelu_tanh" else "none")
    needs = ctx.needs_input_grad[:3]  # a missing bias is no input
    rows = as_rows(gradient)
    gradients = (call("mm", rows, weight.conj(), **ctx.asks).view(x.shape) if needs[0] else None,
                 call("mm", rows.t(), as_rows(x).conj(), **ctx.asks) if needs[1] else None,
                 rows.sum(0) if needs[-1] and bias is not None else None)
    return gradients[:len(needs)]


# --- narrow types ---


def scaled_mm_kernel(a, b, scale_a=None, scale_b=None, bias=None, *, dtype=None, activation=None,
                     accuracy=None, bits=None):
    check_scaled(a, b, scale_a, scale_b)
    return matmul(a, b, scale_a=scale_a, scale_b=scale_b, bias=bias, activation=activation,
                  dtype=scaled_type(dtype), **asks_of(a, accuracy, bits))


def check_scaled(a, b, scale_a, scale_b) -> None:
    check_pair(a, b, 2, BYTES if a.dtype in BYTES else FLOAT8 if a.dtype in FLOAT8 else FLOATING[:3],
               same=a.dtype in FLOATING)
    if a.dtype not in FLOAT8 and scale_a is None and scale_b is None:
        raise RuntimeError("scale_a and scale_b are None: mm and int_mm multiply without scales")


def scaled_type(dtype):
    return torch.float32 if dtype is None else dtype


def scaled_mm_fake(a, b, scale_a=None, scale_b=None, bias=None, *, dtype=None, activation=None, accuracy=None,
                   bits=None):
    check_scaled(a, b, scale_a, scale_b)
    return a.new_empty((a.shape[0], b.shape[1]), dtype=scaled_type(dtype))


def int_mm_kernel(a, b):
    check_pair(a, b, 2, BYTES, same=False)
    return matmul(a, b)


def int_mm_fake(a, b):
    check_pair(a, b, 2, BYTES, same=False)
    return a.new_empty((a.shape[0], b.shape[1]), dtype=torch.int32)


# --- groups ---


def grouped_kernel(a, b, *, accuracy=None, bits=None):
    check_groups(a, b)
    asks = asks_of(a[0], accuracy, bits)
    if a[0].is_cuda:  # queued one by one on the current stream
        return [matmul(x, y, **asks) for x, y in zip(a, b)]
    return _core.matmul_grouped(a, b, **asks)


def check_groups(a, b) -> None:
    if len(a) != len(b):
        raise RuntimeError(f"a has {len(a)} matrices and b {len(b)}: equal numbers are expected")
    for i, (x, y) in enumerate(zip(a, b)):
        try:
            check_pair(x, y, 2)
        except RuntimeError as error:
            raise RuntimeError(f"product {i}: {error}") from None


def grouped_fake(a, b, *, accuracy=None, bits=None):
    check_groups(a, b)
    return [x.new_empty((x.shape[0], y.shape[1])) for x, y in zip(a, b)]


def grouped_setup(ctx, inputs, keyword_only_inputs, output):
    a, b = inputs
    ctx.count, ctx.asks = len(a), keyword_only_inputs
    ctx.save_for_backward(*a, *b)


def grouped_backward(ctx, gradients):
    saved = ctx.saved_tensors
    a, b = saved[:ctx.count], saved[ctx.count:]
    gradients = [x.new_zeros((x.shape[0], y.shape[1])) if each is None else each
                 for each, x, y in zip(gradients, a, b)]
    operator = torch.ops.tesela.matmul_grouped.default
    needs_a, needs_b = (any(needs) for needs in ctx.needs_input_grad[:2])
    none = [None] * ctx.count
    return (operator(gradients, [conjugate_transpose(y) for y in b], **ctx.asks) if needs_a else none,
            operator([conjugate_transpose(x) for x in a], gradients, **ctx.asks) if needs_b else none)


define(f"mm(Tensor a, Tensor b, *, {_ASKS}) -> Tensor", product_kernel(2), product_fake(2),
       setup=product_setup, backward=product_backward("mm"), vmap=mm_vmap)
define(f"bmm(Tensor a, Tensor b, *, {_ASKS}) -> Tensor", product_kernel(3), product_fake(3),
       setup=product_setup, backward=product_backward("bmm"), vmap=bmm_vmap)
define(f"addmm(Tensor input, Tensor a, Tensor b, *, Scalar beta=1, Scalar alpha=1, {_ASKS}) -> Tensor",
       sum_kernel(2), sum_fake(2), setup=sum_setup, backward=sum_backward("addmm"))
define(f"baddbmm(Tensor input, Tensor a, Tensor b, *, Scalar beta=1, Scalar alpha=1, {_ASKS}) -> Tensor",
       sum_kernel(3), sum_fake(3), setup=sum_setup, backward=sum_backward("baddbmm"))
define(f"linear(Tensor x, Tensor weight, Tensor? bias=None, *, str? activation=None, {_ASKS}) -> Tensor",
       linear_kernel, linear_fake, setup=linear_setup, backward=linear_backward)
define("scaled_mm(Tensor a, Tensor b, Tensor? scale_a=None, Tensor? scale_b=None, Tensor? bias=None, *, "
       f"ScalarType? dtype=None, str? activation=None, {_ASKS}) -> Tensor", scaled_mm_kernel, scaled_mm_fake)
define("int_mm(Tensor a, Tensor b) -> Tensor", int_mm_kernel, int_mm_fake)
define(f"matmul_grouped(Tensor[] a, Tensor[] b, *, {_ASKS}) -> Tensor[]", grouped_kernel, grouped_fake,
       setup=grouped_setup, backward=grouped_backward)
for _name in ("mm", "bmm", "addmm", "baddbmm", "linear", "matmul_grouped"):
    define_autocast(_name)
