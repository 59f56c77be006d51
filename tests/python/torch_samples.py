"""Runs the samples of PyTorch's own tests of products plain and under tesela.torch.patch(always=True):

    torch_samples.py [--device cuda] [--seconds S] [NAME...]

PyTorch's wheel has these samples: its test_ops.py, test_linalg.py and test_modules.py use them. The package
expecttest is needed. Results, gradients, out= and errors are compared, and differences printed."""

import argparse
import time
import warnings

import tesela.torch
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db

NAMES = ("mm", "addmm", "bmm", "baddbmm", "addbmm", "matmul", "__rmatmul__", "mv", "addmv", "einsum",
         "tensordot", "inner", "linalg.multi_dot", "linalg.matrix_power", "nn.functional.linear",
         "nn.functional.bilinear", "nn.functional.multi_head_attention_forward",
         "nn.functional.scaled_dot_product_attention", "cdist", "cov")
MODULES = ("Linear", "Bilinear", "MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer",
           "LSTM", "GRU", "RNNCell", "LSTMCell")
#: Fraction of the largest element that results may differ by.
TOLERANCES = {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float32: 1e-4, torch.complex64: 1e-4}


def tensors_of(value):
    return [x for x in torch.utils._pytree.tree_leaves(value) if isinstance(x, torch.Tensor)]


def call(function, arguments, keywords):
    """Returns results and gradients, or the error's type."""
    try:
        results = tensors_of(function(*arguments, **keywords))
        inputs = [x for x in tensors_of((arguments, keywords)) if x.requires_grad]
        sums = [x.abs().square().sum() for x in results if x.requires_grad]
        gradients = torch.autograd.grad(sum(sums), inputs, allow_unused=True) if sums and inputs else ()
        return [x.detach() for x in (*results, *gradients) if x is not None]
    except Exception as error:
        return type(error)


def difference(plain, patched):
    """Returns what differs, or None."""
    if isinstance(plain, type) or isinstance(patched, type):
        return None if plain is patched else f"{plain} became {patched}"
    largest = [x[x.isfinite()].abs().max().item() for x in plain if x.isfinite().any()]
    for one, other in zip(plain, patched, strict=True):
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"{one.dtype} {tuple(one.shape)} became {other.dtype} {tuple(other.shape)}"
        tolerance = TOLERANCES.get(one.dtype, 1e-10 if one.is_floating_point() or one.is_complex() else 0)
        limit = tolerance * max(largest, default=1)
        if not torch.allclose(one, other, rtol=tolerance, atol=limit, equal_nan=True):
            error = (one - other).abs().max().item()
            return f"elements differ by {error:.3g}, tolerance {limit:.3g}"
    return None


def samples_of(operator, device, dtype):
    """Yields (function, arguments, keywords): samples, strided samples, conjugates, samples with out=."""
    has_grad = (operator.supports_autograd
                and dtype in operator.supported_backward_dtypes(torch.device(device).type))

    def transformed(sample, function):
        return sample.transform(lambda x: function(x) if isinstance(x, torch.Tensor) else x)

    for sample in operator.sample_inputs(device, dtype, requires_grad=has_grad):
        kinds = [sample, sample.noncontiguous()]
        if dtype.is_complex:
            kinds.append(transformed(sample, torch.conj))
        for kind in kinds:
            yield operator.op, (kind.input, *kind.args), kind.kwargs
        if operator.supports_out:
            plain = transformed(sample, torch.Tensor.detach)
            out = operator.op(plain.input, *plain.args, **plain.kwargs)
            if isinstance(out, torch.Tensor):
                out = torch.full_like(out, 7)
                yield operator.op, (plain.input, *plain.args), {**plain.kwargs, "out": out}
    if dtype == torch.float32:
        for error in operator.error_inputs(device) if operator.error_inputs_func else ():
            yield operator.op, (error.sample_input.input, *error.sample_input.args), error.sample_input.kwargs


def module_samples(info, device, dtype):
    samples = info.module_inputs_func(info, device=device, dtype=dtype, requires_grad=True, training=False)
    for sample in samples:
        if sample.forward_input is not None:
            torch.manual_seed(1)
            made = sample.constructor_input
            module = info.module_cls(*made.args, **made.kwargs).to(device, dtype)
            yield module, sample.forward_input.args, sample.forward_input.kwargs


def sample_lists(names, device):
    """Yields (name, type, samples) of operators and modules."""
    for operator in op_db:
        if operator.name in (names or NAMES):
            for dtype in sorted(operator.supported_dtypes(device.type), key=str):
                yield operator.formatted_name, dtype, samples_of(operator, device.type, dtype)
    for info in module_db:
        if info.module_cls.__name__ in MODULES and not names:
            for dtype in (torch.float32, torch.float64):
                yield info.name, dtype, module_samples(info, device.type, dtype)


def compare(name, dtype, samples, deadline):
    """Runs samples plain and patched. Returns numbers: samples, differences, calls by tesela."""
    count = wrong = 0
    for function, arguments, keywords in samples:
        if time.monotonic() > deadline:
            break
        torch.manual_seed(2)
        plain = call(function, arguments, keywords)
        if isinstance(plain, list):  # out= is the same tensor twice
            plain = [x.clone() for x in plain]
        with tesela.torch.patch(always=True) as patch:
            torch.manual_seed(2)
            found = difference(plain, call(function, arguments, keywords))
            compare.by_tesela += sum(row.tesela for row in patch.report())
        count += 1
        if found:
            wrong += 1
            shapes = [tuple(x.shape) for x in tensors_of((arguments, keywords))]
            print(f"{name} {dtype}: {found}: {shapes}", flush=True)
    return count, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=600, help="time for all")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    deadline = time.monotonic() + options.seconds
    compare.by_tesela = total = differing = 0
    device = torch.device(options.device)
    for name, dtype, samples in sample_lists(options.names, device):
        count, wrong = compare(name, dtype, samples, deadline)
        total, differing = total + count, differing + wrong
    late = ", stopped by --seconds" if time.monotonic() > deadline else ""
    print(f"{total} samples on {device}, {compare.by_tesela} products by tesela, {differing} differ{late}")
    raise SystemExit(differing > 0)


if __name__ == "__main__":
    main()
