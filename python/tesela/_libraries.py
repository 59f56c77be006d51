"""Arrays of NumPy, PyTorch, CuPy, JAX and others: how each is looked at, and how a result of its kind is made."""

from __future__ import annotations

import logging
import sys
from typing import Any, NamedTuple

import numpy

from . import _core
from ._types import numpy_dtype

log = logging.getLogger("tesela")

#: DLPack's numbers of devices whose memory a processor reads as its own.
HOST = (1, 3)
CUDA = (2, 13)


class Seen(NamedTuple):
    """An array as it was given: its library, where and how it lies, and whether it is taken as its conjugate."""

    library: Any
    array: Any
    view: Any
    conjugate: bool = False

    @property
    def on_host(self) -> bool:
        return self.view.device_type in HOST


def told_copy(name: str, why: str) -> None:
    log.info("tesela copies %s: %s", name, why)


class NumPy:
    """NumPy's arrays, and whatever NumPy makes arrays of."""

    name = "NumPy"

    @staticmethod
    def see(array, name: str) -> Seen:
        array = numpy.asarray(array)
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


class Torch:
    """PyTorch's tensors, on the processor and on CUDA devices. Results are tensors that need no gradient."""

    name = "PyTorch"

    @staticmethod
    def see(array, name: str) -> Seen:
        tensor = array.detach()
        conjugate = tensor.is_conj()
        if conjugate:
            tensor = tensor.conj()
        if tensor.is_neg():
            told_copy(name, "it is a negative that was not computed yet")
            tensor = tensor.resolve_neg()
        if tensor.layout is not sys.modules["torch"].strided:
            raise TypeError(f"{name} is a tensor of layout {tensor.layout}: tesela multiplies dense ones; to_dense() makes one")
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
        return Torch.see(seen.array.clone(memory_format=sys.modules["torch"].contiguous_format), name)._replace(
            conjugate=seen.conjugate)

    @staticmethod
    def stream(seen: Seen) -> int:
        """The caller's current stream on the array's device."""
        return sys.modules["torch"].cuda.current_stream(seen.view.device_id).cuda_stream


class CuPy:
    """CuPy's arrays, on CUDA devices."""

    name = "CuPy"

    @staticmethod
    def see(array, name: str) -> Seen:
        dtype = array.dtype.name
        size = array.itemsize
        view = _core.view_pointer(
            array.data.ptr, dtype, array.shape, tuple(stride // size for stride in array.strides), 2, array.device.id,
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
    def stream(seen: Seen) -> int:
        with seen.array.device:
            return sys.modules["cupy"].cuda.get_current_stream().ptr


class Made:
    """Memory of tesela's on a device, which becomes another library's array by DLPack."""

    def __init__(self, shape, dtype: str, device_id: int):
        self.array, pointer = _core.device_empty(list(shape), dtype, device_id)
        strides = [1]
        for dim in reversed(shape[1:]):
            strides.insert(0, strides[0] * dim)
        self.seen = Seen(Made, self, _core.view_pointer(pointer, dtype, tuple(shape), tuple(strides[:len(shape)]), 2, device_id, False,
                                                        self.array))

    name = "tesela"


class Jax:
    """JAX's arrays on one device, which nobody may write: a result becomes one when it is complete."""

    name = "JAX"

    @staticmethod
    def see(array, name: str) -> Seen:
        jax = sys.modules["jax"]
        if isinstance(array, jax.core.Tracer):
            raise TypeError(f"{name} is being traced (jax.jit, jax.grad): tesela multiplies arrays that are there")
        array = jax.block_until_ready(array)
        return Seen(Jax, array, _core.view(array))

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
    def stream(seen: Seen):
        return None


class Other:
    """Whatever else speaks DLPack. Results are made by its library's from_dlpack(), where it has one."""

    name = "DLPack"

    @staticmethod
    def see(array, name: str) -> Seen:
        view = _core.view(array)
        if view.device_type not in HOST:
            raise TypeError(
                f"{name} is a {type(array).__name__} on a device: of those, tesela takes arrays of PyTorch, CuPy and JAX")
        return Seen(Other, array, view)

    @staticmethod
    def empty(shape, dtype: str, like: Seen):
        return numpy.empty(shape, numpy_dtype(dtype))

    finish = NumPy.finish
    compact = NumPy.compact


_BY_MODULE = {"torch": Torch, "cupy": CuPy, "jax": Jax, "jaxlib": Jax}


def see(array, name: str) -> Seen:
    """Looks at an operand. What is no array becomes one of NumPy's."""
    if isinstance(array, numpy.ndarray):
        return NumPy.see(array, name)
    for kind in type(array).__mro__:
        library = _BY_MODULE.get(kind.__module__.partition(".")[0])
        if library is not None:
            return library.see(array, name)
    if hasattr(array, "__dlpack__") and not isinstance(array, numpy.generic):
        return Other.see(array, name)
    return NumPy.see(array, name)
