"""Arrays of NumPy, PyTorch, CuPy, JAX and others: reading them and creating results."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy

from . import _core
from ._types import log, numpy_dtype

#: DLPack's numbers of devices with memory that the host can read.
HOST = (1, 3)
CUDA = (2, 13)


class Seen(NamedTuple):
    """Array of a call: its library, its memory layout, and whether its conjugate is meant."""

    library: Any
    array: Any
    view: Any
    conjugate: bool = False

    @property
    def on_host(self) -> bool:
        return self.view.device_type in HOST


def told_copy(name: str, why: str) -> None:
    log.info("tesela copies %s: %s", name, why)


def told_conversion(seen: Seen, name: str, kind: str) -> None:
    log.info("tesela converts %s: %s becomes %s", name, seen.view.dtype, kind)


class NumPy:
    """Arrays of NumPy, and objects that NumPy converts to arrays."""

    name = "NumPy"

    @staticmethod
    def plain(array, name: str) -> numpy.ndarray:
        """Returns an operand as an array of no subclass."""
        if isinstance(array, numpy.ma.MaskedArray):
            raise TypeError(f"{name} is a masked array, whose mask tesela would pass over: "
                            f"{name}.filled(0) has a number for each element")
        return numpy.asarray(array)

    @staticmethod
    def see(array, name: str) -> Seen:
        array = NumPy.plain(array, name)
        view = _core.view(array)
        if view.copy and view.type:
            told_copy(name, view.copy)
            array = numpy.array(array, dtype=array.dtype.newbyteorder("="), order="C", copy=True)
            view = _core.view(array)
        return Seen(NumPy, array, view)

    @staticmethod
    def empty(shape, dtype: str, like: Seen):
        return numpy.empty(shape, numpy_dtype(dtype))

    @staticmethod
    def finish(array):
        return array

    @staticmethod
    def compact(seen: Seen, name: str) -> Seen:
        array = numpy.array(seen.array, order="C", copy=True)
        return Seen(NumPy, array, _core.view(array), seen.conjugate)

    @staticmethod
    def convert(seen: Seen, name: str, kind: str) -> Seen:
        if seen.array.dtype == bool and kind == "uint8":
            array = seen.array.view(kind)
        else:
            told_conversion(seen, name, kind)
            array = seen.array.astype(numpy_dtype(kind))
        return Seen(seen.library, array, _core.view(array))


class Torch:
    """Tensors of PyTorch, on the processor and on CUDA devices. Results are tensors without gradients."""

    name = "PyTorch"

    @staticmethod
    def see(array, name: str) -> Seen:
        tensor = array.detach()
        conjugate = tensor.is_conj()
        if conjugate:
            tensor = tensor.conj()
        if tensor.is_neg():
            told_copy(name, "it has a pending negation")
            tensor = tensor.resolve_neg()
        if tensor.layout is not sys.modules["torch"].strided:
            raise TypeError(f"{name} is a tensor of layout {tensor.layout}: tesela multiplies dense ones; "
                            "to_dense() makes one")
        kind = tensor.device.type
        if kind not in ("cpu", "cuda"):
            raise TypeError(f"{name} is on the device {tensor.device}: tesela takes tensors of cpu and cuda")
        view = _core.view_pointer(
            tensor.data_ptr(), str(tensor.dtype)[len("torch."):], tuple(tensor.shape), tensor.stride(),
            1 if kind == "cpu" else 2, tensor.device.index or 0, False, tensor)
        return Seen(Torch, tensor, view, conjugate)

    @staticmethod
    def empty(shape, dtype: str, like: Seen):
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.array.device)

    @staticmethod
    def finish(array):
        return array

    @staticmethod
    def compact(seen: Seen, name: str) -> Seen:
        copy = seen.array.clone(memory_format=sys.modules["torch"].contiguous_format)
        return Torch.see(copy, name)._replace(conjugate=seen.conjugate)

    @staticmethod
    def convert(seen: Seen, name: str, kind: str) -> Seen:
        told_conversion(seen, name, kind)
        converted = seen.array.to(getattr(sys.modules["torch"], kind))
        return Torch.see(converted, name)._replace(conjugate=seen.conjugate)

    @staticmethod
    def stream(seen: Seen) -> int:
        """Returns the caller's current stream on the array's device."""
        return sys.modules["torch"].cuda.current_stream(seen.view.device_id).cuda_stream


class CuPy:
    """Arrays of CuPy, on CUDA devices."""

    name = "CuPy"

    @staticmethod
    def see(array, name: str) -> Seen:
        dtype = array.dtype.name
        size = array.itemsize
        view = _core.view_pointer(array.data.ptr, dtype, array.shape,
                                  tuple(stride // size for stride in array.strides), 2, array.device.id,
                                  False, array)
        return Seen(CuPy, array, view)

    @staticmethod
    def empty(shape, dtype: str, like: Seen):
        cupy = sys.modules["cupy"]
        with like.array.device:
            return cupy.empty(shape, dtype=numpy_dtype(dtype))

    @staticmethod
    def finish(array):
        return array

    @staticmethod
    def compact(seen: Seen, name: str) -> Seen:
        return CuPy.see(seen.array.copy(order="C"), name)

    @staticmethod
    def convert(seen: Seen, name: str, kind: str) -> Seen:
        told_conversion(seen, name, kind)
        return CuPy.see(seen.array.astype(numpy_dtype(kind)), name)

    @staticmethod
    def stream(seen: Seen) -> int:
        with seen.array.device:
            return sys.modules["cupy"].cuda.get_current_stream().ptr


class Made:
    """Device memory of tesela, which becomes another library's array by DLPack."""

    def __init__(self, shape, dtype: str, device_id: int):
        self.array, pointer = _core.device_empty(list(shape), dtype, device_id)
        strides = [1]
        for dim in reversed(shape[1:]):
            strides.insert(0, strides[0] * dim)
        view = _core.view_pointer(pointer, dtype, tuple(shape), tuple(strides[:len(shape)]), 2, device_id,
                                  False, self.array)
        self.seen = Seen(Made, self, view)

    name = "tesela"


class Jax:
    """Arrays of JAX on one device. They are read-only, so a complete result is converted to one."""

    name = "JAX"

    @staticmethod
    def see(array, name: str) -> Seen:
        jax = sys.modules["jax"]
        if isinstance(array, jax.core.Tracer):
            raise TypeError(f"{name} is being traced (jax.jit, jax.grad): tesela multiplies "
                            "existing arrays only")
        array = jax.block_until_ready(array)
        view = _core.view(array)
        view.read_only = True
        return Seen(Jax, array, view)

    @staticmethod
    def empty(shape, dtype: str, like: Seen):
        if like.on_host:
            return numpy.empty(shape, numpy_dtype(dtype))
        return Made(shape, dtype, like.view.device_id)

    @staticmethod
    def finish(array):
        jax = sys.modules["jax"]
        if isinstance(array, Made):
            return jax.dlpack.from_dlpack(array.array)
        if isinstance(array, numpy.ndarray) and array.dtype.names is None and array.dtype.kind == "V":
            return jax.numpy.asarray(array)  # NumPy's own DLPack has no bfloat16
        return jax.dlpack.from_dlpack(array)

    @staticmethod
    def compact(seen: Seen, name: str) -> Seen:
        return Jax.see(sys.modules["jax"].numpy.array(seen.array, copy=True), name)

    @staticmethod
    def convert(seen: Seen, name: str, kind: str) -> Seen:
        told_conversion(seen, name, kind)
        converted = Jax.see(seen.array.astype(kind), name)
        if converted.view.dtype != kind:
            raise TypeError(f"{name} is {seen.view.dtype}, and JAX has no {kind} here: "
                            "jax.config.update('jax_enable_x64', True) allows it")
        return converted

    @staticmethod
    def stream(seen: Seen):
        return None


class Other:
    """Host arrays of other libraries with DLPack. Results are arrays of NumPy."""

    name = "DLPack"

    @staticmethod
    def see(array, name: str) -> Seen:
        view = _core.view(array)
        if view.device_type not in HOST:
            raise TypeError(f"{name} is a {type(array).__name__} on a device: of those, tesela takes arrays "
                            "of PyTorch, CuPy and JAX")
        return Seen(Other, array, view)

    @staticmethod
    def empty(shape, dtype: str, like: Seen):
        return numpy.empty(shape, numpy_dtype(dtype))

    finish = NumPy.finish
    compact = NumPy.compact

    @staticmethod
    def convert(seen: Seen, name: str, kind: str) -> Seen:
        return NumPy.convert(seen._replace(array=numpy.from_dlpack(seen.array)), name, kind)


_BY_MODULE = {"torch": Torch, "cupy": CuPy, "jax": Jax, "jaxlib": Jax}


def library_of(array):
    """Returns the class of an operand's library. An object that is no array is for NumPy."""
    if isinstance(array, numpy.ndarray):
        return NumPy
    for kind in type(array).__mro__:
        library = _BY_MODULE.get(kind.__module__.partition(".")[0])
        if library is not None:
            return library
    if hasattr(array, "__dlpack__") and not isinstance(array, numpy.generic):
        return Other
    return NumPy


def see(array, name: str) -> Seen:
    """Reads an operand. An object that is no array becomes an array of NumPy."""
    return library_of(array).see(array, name)


def see_out(out) -> Seen:
    """Reads a result array, which is never copied."""
    if isinstance(out, numpy.ndarray) and not isinstance(out, numpy.ma.MaskedArray):
        return Seen(NumPy, out, _core.view(out))
    seen = see(out, "out")
    if (seen.library is NumPy and seen.array is not out
            and seen.view.data != numpy.asarray(out).__array_interface__["data"][0]):
        raise TypeError(f"out is a {type(out).__name__}: an array is expected, which the result can "
                        "be written to")
    return seen


def empty_like(seen: Seen, kind: str) -> Seen:
    """Creates an array without elements, with the library and device of `seen`."""
    empty = seen.library.empty((0,), kind, seen)
    return getattr(empty, "seen", None) or Seen(seen.library, empty, see(empty, "out").view)


def compact(seen: Seen, name: str) -> Seen:
    """Returns a dense copy without pending conjugation."""
    if seen.conjugate:
        told_copy(name, "it has a pending conjugation")
        return see(seen.array.conj().resolve_conj(), name)
    return repeated_copy(seen, name)


def repeated_copy(seen: Seen, name: str) -> Seen:
    told_copy(name, "all its elements are equal, which the library's strides cannot express")
    return seen.library.compact(seen, name)


def share_memory(one, other) -> bool:
    """Returns True if arrays with overlapping address ranges share elements, or if this is hard to decide."""
    if isinstance(one, numpy.ndarray) and isinstance(other, numpy.ndarray):
        try:
            return numpy.shares_memory(one, other, max_work=10000)
        except Exception:  # too hard to decide: NumPy's TooHardError has had several modules
            return True
    return True


def see_vector(vector, name: str, kinds: list, like: Seen) -> Seen:
    """Reads a vector of an epilogue, converted to the first of `kinds` if NumPy would convert it.

    A number becomes an array on the device of `like`.
    """
    is_scale = name != "bias"
    if isinstance(vector, (int, float, numpy.number, numpy.bool_)) and is_scale and not like.on_host:
        if like.library is Jax:
            raise TypeError(f"{name} is a number: of JAX's arrays on a device it is an array of "
                            "float32 there")
        array = like.library.empty((1,), kinds[0], like)
        array[...] = float(vector)
        return see(array, name)
    is_array = hasattr(vector, "dtype") or hasattr(vector, "__dlpack__")
    seen = see(vector, name)
    if seen.view.dtype in kinds:
        return seen
    try:
        fits = numpy.can_cast(numpy_dtype(seen.view.dtype), numpy_dtype(kinds[0]), "same_kind")
    except TypeError:
        fits = False
    if not fits:
        what = "scales are float32" if is_scale else f"the result {kinds[0]}: it is {' or '.join(kinds)}"
        raise TypeError(f"{name} is {seen.view.dtype}{': ' if is_scale else ', and '}{what}")
    if not is_array and seen.library is NumPy:
        return NumPy.see(seen.array.astype(numpy_dtype(kinds[0])), name)
    return seen.library.convert(seen, name, kinds[0])


def copy_into(result, added, kind: str) -> None:
    """Copies gemm's c into its result."""
    seen = see(added, "c")
    target = result.seen if hasattr(result, "seen") else see_out(result)
    shape = tuple(target.view.shape)
    if tuple(seen.view.shape) != shape:
        raise ValueError(f"c has the shape {tuple(seen.view.shape)}, the result {shape}")
    if seen.view.dtype != kind:
        try:
            types = numpy_dtype(seen.view.dtype), numpy_dtype(kind)
            fits = numpy.can_cast(*types, "safe") or (
                not hasattr(added, "dtype") and numpy.can_cast(*types, "same_kind"))
        except TypeError:
            fits = False
        if not fits:
            raise TypeError(f"c is {seen.view.dtype}, and the result {kind}")
    if hasattr(result, "seen"):
        raise TypeError("JAX's arrays on a device cannot be added to: give gemm no c")
    result[...] = seen.array


def handle_of(stream, like: Seen) -> int | None:
    """Returns the handle of a stream: a number, or PyTorch's, CuPy's or Numba's. None: the current stream."""
    if stream is None:
        return like.library.stream(like)
    if isinstance(stream, int):
        return stream
    for name in ("cuda_stream", "ptr", "handle"):
        handle = getattr(stream, name, None)
        if handle is not None:
            return int(getattr(handle, "value", handle) or 0)
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    raise TypeError(f"stream is a {type(stream).__name__}: a number or a stream of PyTorch, "
                    "CuPy or Numba is expected")
