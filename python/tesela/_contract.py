"""Contractions of arrays by batched products: einsum, tensordot, inner, vecdot, outer, multi_dot."""

from __future__ import annotations

import functools
import math
import operator
import string
import sys
from typing import Any, Callable, NamedTuple

import numpy

from . import _core, _libraries
from ._types import EIGHTS, common_type, numpy_dtype, type_name

#: Multiply-adds of each product from which an operand whose axes cannot be merged is multiplied by slices,
#: on the host and on a device. Below, a copy of the operand is faster.
SLICE_WORK = {True: 1 << 18, False: 1 << 27}
#: Labels of axes. The axes of an ellipsis have negative numbers: the last one has -1.
Labels = tuple[int, ...]
BYTES = ("int8", "uint8", "bool")
X64 = ("float64", "complex128")


class Operands:
    """Arrays of one library, converted to one type, and the product of their matrices."""

    def __init__(self, arrays: list, multiply: Callable | None, options: dict[str, Any]):
        libraries = [_libraries.library_of(array) for array in arrays]
        self.library = libraries[0]
        for i, library in enumerate(libraries):
            if library is not self.library:
                raise TypeError(f"operand 0 is {self.library.name}'s and operand {i} is {library.name}'s: "
                                "all operands belong to one library")
        if self.library is _libraries.Other:
            raise TypeError(f"operand 0 is a {type(arrays[0]).__name__}: arrays of NumPy, PyTorch, CuPy and "
                            "JAX are expected")
        if self.library is _libraries.NumPy:
            arrays = [_libraries.NumPy.plain(array, f"operand {i}") for i, array in enumerate(arrays)]
        self.options = options
        self.multiply = multiply or (_traced_matmul() if self.library is _libraries.Jax else _core.matmul)
        self.kind, self.wide = _types_of(*(array.dtype for array in arrays))
        self.arrays = arrays if self.kind is None else [self.widen(array) for array in arrays]
        self.on_host = (arrays[0].device.type == "cpu" if self.library is _libraries.Torch else
                        sys.modules["jax"].default_backend() == "cpu" if self.library is _libraries.Jax else
                        self.library is _libraries.NumPy)

    def convert(self, array, kind: str):
        """Returns the array in another type."""
        if self.library is _libraries.Torch:
            return array.to(getattr(sys.modules["torch"], kind))
        if self.library is _libraries.Jax and not sys.modules["jax"].config.jax_enable_x64 and kind in X64:
            raise TypeError(f"the result is {kind}, which JAX does not have here: "
                            "jax.config.update('jax_enable_x64', True) allows it")
        return array.astype(numpy_dtype(kind))

    def widen(self, array):
        """Returns the array in the type of a contraction, in this machine's byte order."""
        is_native = self.library is not _libraries.NumPy or array.dtype.isnative
        return array if is_native and _name_of(array.dtype) == self.wide else self.convert(array, self.wide)

    def sum(self, array, axes: tuple[int, ...]):
        """Returns the sum over these axes."""
        array = self.widen(array)
        return array.sum(axes, dtype=array.dtype)

    def permute(self, array, axes: tuple[int, ...] | None):
        """Returns a view with the axes in this order; None: the present one."""
        if axes is None:
            return array
        return array.permute(axes) if self.library is _libraries.Torch else array.transpose(axes)

    def strides(self, array) -> tuple[int, ...]:
        """Returns the strides, in bytes or elements. JAX's arrays are dense."""
        if self.library is _libraries.Torch:
            return array.stride()
        if self.library is _libraries.Jax:
            return tuple(math.prod(array.shape[i + 1:]) for i in range(array.ndim))
        return array.strides

    def matmul(self, a, b):
        """Returns the product of stacks of matrices."""
        return self.multiply(a, b, **self.options)

    def times(self, a, b):
        """Returns the products of elements."""
        return self.widen(a) * self.widen(b)


def _traced_matmul() -> Callable:
    """Returns the product of JAX's arrays: traceable if the package has the handlers."""
    try:
        from . import jax as traced
    except ImportError:
        return _core.matmul
    return traced.matmul


_name_of = functools.lru_cache(maxsize=64)(type_name)


@functools.lru_cache(maxsize=256)
def _types_of(*dtypes) -> tuple[str | None, str]:
    """Returns the type to which the operands are converted, and that of sums of products. None: two 8-bit
    operands stay."""
    kinds = [type_name(dtype) for dtype in dtypes]
    if len(kinds) == 2:
        for eight, wide in ((BYTES, "int32"), (EIGHTS, "float32")):
            if set(kinds) <= set(eight):
                return None, wide
    common = common_type(kinds[0], kinds[0])
    for kind in kinds[1:]:
        common = common and common_type(common, kind)
    if not common:
        raise TypeError(f"tesela does not contract {', '.join(kinds)}: astype() converts an array")
    return common, common


def _axes(order, labels: Labels) -> tuple[int, ...] | None:
    """Returns the axes that bring labels into an order; None: they are in that order."""
    axes = tuple(labels.index(label) for label in order)
    return None if axes == tuple(range(len(labels))) else axes


# --- expressions ---

def _labels(term: str, ndim: int, number: int) -> Labels:
    """Returns the labels of an operand's axes."""
    before, dots, after = term.partition("...")
    named = len(before) + len(after)
    if "." in before + after:
        raise ValueError(f"operand {number}: \"{term}\" has a point outside of an ellipsis \"...\"")
    if named > ndim or (not dots and named < ndim):
        raise ValueError(f"operand {number} has {ndim} dimensions, and its subscripts are \"{term}\"")
    for letter in before + after:
        if not letter.isascii() or not letter.isalpha():
            raise ValueError(f"operand {number}: \"{letter}\" is no subscript: letters are expected")
    return (*map(ord, before), *range(named - ndim, 0), *map(ord, after))


def _output(text: str | None, terms: list[Labels]) -> Labels:
    """Returns the labels of the result. None: the ellipsis, then letters that occur once, in order."""
    used = [label for term in terms for label in term]
    dots = tuple(sorted({label for label in used if label < 0}))
    if text is None:
        return dots + tuple(sorted(label for label in set(used) if label > 0 and used.count(label) == 1))
    before, ellipsis, after = text.partition("...")
    if dots and not ellipsis:
        raise ValueError("the output lacks \"...\", which the operands have")
    letters = before + after
    for letter in letters:
        if ord(letter) not in used:
            raise ValueError(f"the output has \"{letter}\", which no operand has")
        if letters.count(letter) > 1:
            raise ValueError(f"the output has \"{letter}\" twice")
    return (*map(ord, before), *dots, *map(ord, after))


def _text(sublist) -> str:
    """Returns the subscripts of a list such as [0, 1, Ellipsis]."""
    letters = string.ascii_uppercase + string.ascii_lowercase
    text = ""
    for item in sublist:
        if item is Ellipsis:
            text += "..."
            continue
        try:
            index = operator.index(item)
        except TypeError:
            raise TypeError(f"subscripts have {item!r}: integers and Ellipsis are expected") from None
        if not 0 <= index < len(letters):
            raise ValueError(f"subscript {index} is not between 0 and {len(letters) - 1}")
        text += letters[index]
    return text


def read_operands(operands: tuple) -> tuple[str, list]:
    """Returns the subscripts and the arrays, of both forms of an expression."""
    if not operands:
        raise ValueError("einsum takes subscripts and operands")
    if isinstance(operands[0], str):
        return operands[0].replace(" ", ""), list(operands[1:])
    arrays, lists = list(operands[:-1:2]), [_text(sublist) for sublist in operands[1::2]]
    text = ",".join(lists)
    return (f"{text}->{_text(operands[-1])}" if len(operands) % 2 else text), arrays


class Expression:
    """Parsed subscripts for operands of these shapes.

    Attributes
    ----------
    terms, output : labels of the axes of each operand, and of the result
    sizes : size of each label
    are_simple : for each operand: no label is repeated, and no axis of size 1 broadcasts
    path : operands of each step
    """

    def __init__(self, text: str, shapes: tuple[tuple[int, ...], ...], optimize):
        inputs, arrow, output = text.partition("->")
        parts = inputs.split(",")
        if len(parts) != len(shapes):
            raise ValueError(f"\"{text}\" has {len(parts)} operands, and {len(shapes)} are given")
        self.terms = [_labels(part, len(shape), i) for i, (part, shape) in enumerate(zip(parts, shapes))]
        self.output = _output(output if arrow else None, self.terms)
        self.sizes: dict[int, int] = {}
        for number, (term, shape) in enumerate(zip(self.terms, shapes)):
            seen: dict[int, int] = {}
            for label, size in zip(term, shape):
                other = self.sizes.get(label, 1)
                if seen.setdefault(label, size) != size or (size != 1 and other not in (1, size)):
                    known = seen[label] if seen[label] != size else other
                    raise ValueError(f"operand {number}: subscript \"{_name(label)}\" has the size {size}, "
                                     f"and {known} elsewhere")
                if other == 1:
                    self.sizes[label] = size
        self.are_simple = [len(set(term)) == len(term) and all(map(self._has_size, term, shape))
                           for term, shape in zip(self.terms, shapes)]
        self.path = self._find_path(optimize)

    def _has_size(self, label: int, size: int) -> bool:
        return self.sizes[label] == size

    def _find_path(self, optimize) -> list[tuple[int, ...]]:
        """Returns the operands of each step."""
        count = len(self.terms)
        if isinstance(optimize, (list, tuple)):
            return [tuple(step) for step in optimize if not isinstance(step, str)]
        names = {label: string.ascii_letters[i] for i, label in enumerate(self.sizes) if i < 52}
        if count < 3 or not optimize or len(names) < len(self.sizes):
            return [(0, 1)] * (count - 1)
        text = ",".join("".join(names[label] for label in term) for term in self.terms)
        samples = [numpy.broadcast_to(numpy.empty(()), [self.sizes[label] for label in term])
                   for term in self.terms]
        how = optimize if isinstance(optimize, str) else "optimal" if count < 6 else "greedy"
        text += "->" + "".join(names[label] for label in self.output)
        return [tuple(step) for step in numpy.einsum_path(text, *samples, optimize=how)[0][1:]]


def _name(label: int) -> str:
    return chr(label) if label > 0 else "..."


#: Returns the Expression of subscripts, shapes and `optimize`.
parse = functools.lru_cache(maxsize=512)(Expression)


# --- steps ---

def _simplify(array, labels: Labels, sizes: dict[int, int]) -> tuple[Any, Labels]:
    """Takes diagonals of repeated labels, and drops axes of size 1 that another operand repeats."""
    while len(set(labels)) < len(labels):
        label = next(label for label in labels if labels.count(label) > 1)
        first = labels.index(label)
        second = labels.index(label, first + 1)
        array = array.diagonal(0, first, second)
        labels = (*(each for i, each in enumerate(labels) if i not in (first, second)), label)
    thin = [i for i, label in enumerate(labels) if array.shape[i] == 1 and sizes[label] != 1]
    if thin:
        array = array[tuple(0 if i in thin else slice(None) for i in range(len(labels)))]
        labels = tuple(label for i, label in enumerate(labels) if i not in thin)
    return array, labels


def _sum_away(ops: Operands, array, labels: Labels, keep) -> tuple[Any, Labels]:
    """Sums over the axes whose labels are not in `keep`."""
    axes = tuple(i for i, label in enumerate(labels) if label not in keep)
    if not axes:
        return array, labels
    return ops.sum(array, axes), tuple(label for label in labels if label in keep)


def _order(labels, strides: dict[int, int]) -> list[int]:
    """Returns the labels from the largest to the smallest stride."""
    return sorted(labels, key=lambda label: -abs(strides[label]))


def _runs(labels, strides: dict[int, int], sizes: dict[int, int]) -> list[list[int]]:
    """Returns groups of labels, each of which is one axis without a copy."""
    runs: list[list[int]] = []
    for label in _order(labels, strides):
        last = runs[-1][-1] if runs else None
        if last is not None and (strides[last] == strides[label] * sizes[label]
                                 or sizes[last] == 1 or sizes[label] == 1):
            runs[-1].append(label)
        else:
            runs.append([label])
    return runs


def _split(labels, strides, sizes, work: int, least: int) -> tuple[list[int], list[int]]:
    """Returns the labels of slices, and the labels that are merged to an axis of a matrix."""
    runs = _runs(labels, strides, sizes)
    if len(runs) < 2:
        return [], runs[0] if runs else []
    main = max(runs, key=lambda run: math.prod(sizes[label] for label in run))
    if work * math.prod(sizes[label] for label in main) < least:
        return [], _order(labels, strides)
    return [label for run in runs if run is not main for label in run], main


class Pair(NamedTuple):
    """Contraction of two operands as one product of stacks of matrices.

    Attributes
    ----------
    is_swapped : bool
        The second operand is the left factor.
    is_product : bool
        False: no label is summed, and elements are multiplied.
    axes, shapes : pair
        Order of the axes of both factors, and the shapes into which they are merged. Without sums the shapes
        are indices that add axes.
    shape, labels : tuple
        Shape and labels of the result.
    """

    is_swapped: bool
    is_product: bool
    axes: tuple
    shapes: tuple
    shape: tuple[int, ...]
    labels: Labels


@functools.lru_cache(maxsize=2048)
def _plan(x_labels: Labels, x_shape, x_strides, y_labels: Labels, y_shape, y_strides, keep: frozenset,
          output: Labels, least: int) -> Pair:
    """Plans a contraction. Axes are merged without a copy if their strides allow it."""
    free = [label for label in output if (label in x_labels) != (label in y_labels)]
    is_swapped = bool(free) and free[0] in y_labels
    if is_swapped:
        x_labels, x_shape, x_strides, y_labels, y_shape, y_strides = (
            y_labels, y_shape, y_strides, x_labels, x_shape, x_strides)
    sizes = dict(zip(x_labels, x_shape)) | dict(zip(y_labels, y_shape))
    x_steps, y_steps = dict(zip(x_labels, x_strides)), dict(zip(y_labels, y_strides))

    def size(labels) -> int:
        return math.prod(sizes[label] for label in labels)

    shared = [label for label in x_labels if label in y_labels]
    batch = [label for label in shared if label in keep]
    inner = [label for label in shared if label not in keep]
    x_free = [label for label in x_labels if label not in y_labels]
    y_free = [label for label in y_labels if label not in x_labels]
    if not inner:
        labels = (*batch, *x_free, *y_free)
        return Pair(is_swapped, False, (_axes(batch + x_free, x_labels), _axes(batch + y_free, y_labels)),
                    ((..., *[None] * len(y_free)), (*[slice(None)] * len(batch), *[None] * len(x_free), ...)),
                    tuple(sizes[label] for label in labels), labels)
    inner = _order(inner, x_steps if math.prod(x_shape) >= math.prod(y_shape) else y_steps)
    x_slices, x_main = _split(x_free, x_steps, sizes, size(inner) * size(y_free), least)
    y_slices, y_main = _split(y_free, y_steps, sizes, size(inner) * size(x_main), least)
    x_order, y_order = batch + x_slices + x_main + inner, batch + y_slices + inner + y_main
    shape = [sizes[label] for label in batch]
    x_stack = *shape, *(sizes[label] for label in x_slices), *[1] * len(y_slices), size(x_main), size(inner)
    y_stack = *shape, *[1] * len(x_slices), *(sizes[label] for label in y_slices), size(inner), size(y_main)
    labels = (*batch, *x_slices, *y_slices, *x_main, *y_main)
    return Pair(is_swapped, True, (_axes(x_order, x_labels), _axes(y_order, y_labels)), (x_stack, y_stack),
                tuple(sizes[label] for label in labels), labels)


def _contract_pair(ops: Operands, x, x_labels: Labels, y, y_labels: Labels, keep: frozenset,
                   output: Labels) -> tuple[Any, Labels]:
    """Contracts two operands, and returns the result with its labels."""
    if ops.kind is not None:  # 8-bit numbers are summed after the product, in its type
        x, x_labels = _sum_away(ops, x, x_labels, keep.union(y_labels))
        y, y_labels = _sum_away(ops, y, y_labels, keep.union(x_labels))
    plan = _plan(x_labels, tuple(x.shape), ops.strides(x), y_labels, tuple(y.shape), ops.strides(y), keep,
                 output, SLICE_WORK[ops.on_host])
    x, y = (y, x) if plan.is_swapped else (x, y)
    x, y = ops.permute(x, plan.axes[0]), ops.permute(y, plan.axes[1])
    if not plan.is_product:
        return ops.times(x[plan.shapes[0]], y[plan.shapes[1]]), plan.labels
    result = ops.matmul(*(array if array.shape == shape else array.reshape(shape)
                          for array, shape in zip((x, y), plan.shapes)))
    return result if result.shape == plan.shape else result.reshape(plan.shape), plan.labels


def contract(ops: Operands, expression: Expression):
    """Runs the steps of an expression."""
    terms = [(array, labels) if is_simple else _simplify(array, labels, expression.sizes)
             for array, labels, is_simple in zip(ops.arrays, expression.terms, expression.are_simple)]
    for step in expression.path:
        chosen = [terms.pop(i) for i in sorted(step, reverse=True)][::-1]
        if not chosen:
            raise ValueError(f"step {step} of the path has no operands")
        while len(chosen) > 1:
            keep = frozenset(expression.output).union(*(labels for _, labels in (*terms, *chosen[2:])))
            chosen[:2] = [_contract_pair(ops, *chosen[0], *chosen[1], keep, expression.output)]
        terms.append(chosen[0])
    if len(terms) != 1:
        raise ValueError(f"the path leaves {len(terms)} operands: a path ends with one")
    array, labels = _sum_away(ops, *terms[0], expression.output)
    missing = [label for label in expression.output if label not in labels]
    if missing:
        array, labels = array[(*[None] * len(missing), ...)], (*missing, *labels)
    return ops.permute(array, _axes(expression.output, labels))


def einsum_of(operands: tuple, optimize, multiply: Callable | None, options: dict[str, Any]):
    """Evaluates an einsum by a function that multiplies stacks of matrices."""
    text, arrays = read_operands(operands)
    if not arrays:
        raise ValueError("einsum takes subscripts and at least one operand")
    ops = Operands(arrays, multiply, options)
    shapes = tuple(tuple(array.shape) for array in ops.arrays)
    optimize = tuple(optimize) if isinstance(optimize, list) else optimize
    return contract(ops, parse(text, shapes, optimize))


# --- public functions ---

def einsum(*operands, optimize=True, **options):
    """Contracts arrays as `numpy.einsum` does. Each step is one batched product.

    Parameters
    ----------
    *operands
        Subscripts and arrays: ``einsum("ij,jk", a, b)``, or ``einsum(a, [0, 1], b, [1, 2])``. All arrays
        belong to one library: NumPy, PyTorch, CuPy or JAX.
    optimize : bool, str or list, optional
        Order of the steps. True: found by `numpy.einsum_path`, optimal up to five operands. False: from left
        to right. A name or a path of `numpy.einsum_path` is used unchanged.
    **options
        `accuracy`, `bits`, `device`, `strategy` and `verify` of `matmul`.

    Returns
    -------
    result : array of the operands' library
        Its type is that of `matmul`: integers become float64, two arrays of 8-bit integers int32.

    Raises
    ------
    ValueError
        Subscripts that do not fit the arrays.
    TypeError
        Arrays of two libraries, and types that tesela does not multiply.
    """
    return einsum_of(operands, optimize, None, options)


def _axes_of(axes, ndims: tuple[int, int]) -> tuple[list[int], list[int]]:
    """Returns the contracted axes of both operands."""
    try:
        count = operator.index(axes)
    except TypeError:
        pair = [[each] if hasattr(each, "__index__") else list(each) for each in axes]
    else:
        if count < 0 or count > min(ndims):
            raise ValueError(f"axes is {count}, and the arrays have {ndims[0]} and {ndims[1]} dimensions")
        pair = [list(range(ndims[0] - count, ndims[0])), list(range(count))]
    if len(pair) != 2 or len(pair[0]) != len(pair[1]):
        raise ValueError(f"axes is {axes!r}: a number, or two lists of equal length are expected")
    for number, (listed, ndim) in enumerate(zip(pair, ndims)):
        for axis in listed:
            if not -ndim <= axis < ndim:
                raise ValueError(f"axis {axis} is not an axis of operand {number}, with {ndim} dimensions")
        listed[:] = [axis % ndim for axis in listed]
        if len(set(listed)) != len(listed):
            raise ValueError(f"axes lists an axis of operand {number} twice")
    return pair[0], pair[1]


def tensordot_of(a, b, axes, multiply: Callable | None, options: dict[str, Any]):
    """Contracts axes of two arrays by a function that multiplies matrices."""
    ops = Operands([a, b], multiply, options)
    a, b = ops.arrays
    a_axes, b_axes = _axes_of(axes, (a.ndim, b.ndim))
    for i, j in zip(a_axes, b_axes):
        if a.shape[i] != b.shape[j]:
            raise ValueError(f"axis {i} of operand 0 has the size {a.shape[i]}, and axis {j} of operand 1 "
                             f"{b.shape[j]}")
    a_labels = tuple(range(1, a.ndim + 1))
    b_labels = tuple(a_labels[a_axes[b_axes.index(i)]] if i in b_axes else a.ndim + 1 + i
                     for i in range(b.ndim))
    output = (*(label for i, label in enumerate(a_labels) if i not in a_axes),
              *(label for i, label in enumerate(b_labels) if i not in b_axes))
    result, labels = _contract_pair(ops, a, a_labels, b, b_labels, frozenset(output), output)
    return ops.permute(result, _axes(output, labels))


def tensordot(a, b, axes=2, **options):
    """Contracts axes of two arrays, as `numpy.tensordot` does.

    Parameters
    ----------
    a, b : array
    axes : int or two lists of int, optional
        Number of axes: the last ones of a with the first ones of b. Or the axes of each array.
    **options
        As in `einsum`.

    Returns
    -------
    result : array
        The other axes of a, then those of b.
    """
    return tensordot_of(a, b, axes, None, options)


def inner(a, b, **options):
    """Sums products over the last axes of both arrays, as `numpy.inner` does.

    Parameters
    ----------
    a, b : array
    **options
        As in `einsum`.

    Returns
    -------
    result : array
    """
    if numpy.ndim(a) == 0 or numpy.ndim(b) == 0:
        return tensordot(a, b, 0, **options)
    return tensordot(a, b, (-1, -1), **options)


def vecdot(x1, x2, axis=-1, **options):
    """Sums conj(x1) x2 over an axis, as `numpy.vecdot` and the array API do. Other axes broadcast.

    Parameters
    ----------
    x1, x2 : array
    axis : int, optional
    **options
        As in `einsum`.

    Returns
    -------
    result : array
    """
    ops = Operands([x1, x2], None, options)
    ndims = [array.ndim for array in ops.arrays]
    if min(ndims) == 0 or not -min(ndims) <= axis < min(ndims) or (axis >= 0 and ndims[0] != ndims[1]):
        raise ValueError(f"axis {axis} is not an axis of both arrays, with {ndims[0]} and {ndims[1]} "
                         "dimensions, counted from the end")
    terms = []
    for array in ops.arrays:
        axes = list(range(array.ndim))
        axes.append(axes.pop(axis))
        terms.append(ops.permute(array, tuple(axes)))
    if terms[0].shape[-1] != terms[1].shape[-1]:
        raise ValueError(f"x1 has the size {terms[0].shape[-1]} along the axis, and x2 {terms[1].shape[-1]}")
    if "complex" in str(terms[0].dtype):
        terms[0] = terms[0].conj()
    return einsum("...a,...a->...", *terms, **options)


def outer(x1, x2, **options):
    """Multiplies each element of a vector by each element of another one, as `numpy.outer` does.

    Parameters
    ----------
    x1, x2 : array
        Other arrays than vectors are flattened.
    **options
        As in `einsum`.

    Returns
    -------
    result : array
        Element (i, j) is x1[i] x2[j].
    """
    ops = Operands([x1, x2], None, options)
    return tensordot(*(array.reshape(-1) for array in ops.arrays), 0, **options)


def _chain(sizes: list[int]) -> Callable:
    """Returns the cheapest order of a chain of products (Godbole, 1973): a function of two numbers of
    matrices, which returns the last matrix of the left factor."""
    count = len(sizes) - 1
    cost = [[0] * count for _ in range(count)]
    split = [[0] * count for _ in range(count)]
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            ends = sizes[i] * sizes[j + 1]
            cost[i][j], split[i][j] = min((cost[i][s] + cost[s + 1][j] + ends * sizes[s + 1], s)
                                          for s in range(i, j))
    return lambda i, j: split[i][j]


def multi_dot(arrays, **options):
    """Multiplies a chain of matrices in the cheapest order, as `numpy.linalg.multi_dot` does.

    Parameters
    ----------
    arrays : sequence of array
        Matrices. The first one may be a row and the last one a column, with one dimension.
    **options
        As in `einsum`.

    Returns
    -------
    result : array
    """
    ops = Operands(list(arrays), None, options) if len(arrays) > 1 else None
    if ops is None:
        raise ValueError("multi_dot takes two or more arrays")
    chain = ops.arrays
    for i, array in enumerate(chain):
        if array.ndim != 2 and (array.ndim != 1 or 0 < i < len(chain) - 1):
            raise ValueError(f"array {i} has {array.ndim} dimensions: matrices are expected, and vectors at "
                             "the ends")
    sizes = [1 if chain[0].ndim == 1 else chain[0].shape[0], *(array.shape[0] for array in chain[1:]),
             1 if chain[-1].ndim == 1 else chain[-1].shape[-1]]
    for i, array in enumerate(chain[:-1]):
        if array.shape[-1] != sizes[i + 1]:
            raise ValueError(f"array {i} has {array.shape[-1]} columns, "
                             f"and array {i + 1} {sizes[i + 1]} rows")
    split = _chain(sizes)

    def product(i: int, j: int):
        if i == j:
            return chain[i]
        s = split(i, j)
        return ops.matmul(product(i, s), product(s + 1, j))

    return product(0, len(chain) - 1)
