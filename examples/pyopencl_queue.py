#!/usr/bin/env python3
"""pyopencl_queue.py [LIBTESELA]: multiplies arrays of pyopencl on its queue, through the C interface only.

The program creates its context, queue and arrays as usual. The library opens its device in that context,
wraps the arrays' memory and the queue, and queues its product there. The product runs in order with the
program's other work. Nothing is copied, and no thread waits."""
import ctypes
import sys

import numpy
import pyopencl
import pyopencl.array

M, N, K = 300, 200, 500
F32 = 2  # TESELA_F32

lib = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libtesela.so.2")
lib.tesela_last_error.restype = ctypes.c_char_p
pointer = ctypes.c_void_p


class PlanInfo(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char_p), ("seconds", ctypes.c_double), ("workspace", ctypes.c_size_t)]


class ContextDesc(ctypes.Structure):
    _fields_ = [("device", ctypes.c_char_p), ("threads", ctypes.c_int), ("reserved", ctypes.c_int),
                ("opencl_context", pointer)]


class Matrix(ctypes.Structure):
    _fields_ = [("data", pointer), ("buffer", pointer), ("offset", ctypes.c_int64),
                ("row_stride", ctypes.c_int64), ("col_stride", ctypes.c_int64), ("transpose", ctypes.c_int),
                ("type", ctypes.c_int), ("conjugate", ctypes.c_int), ("packed", pointer), ("shards", pointer)]


class Result(ctypes.Structure):
    _fields_ = [("data", pointer), ("buffer", pointer), ("offset", ctypes.c_int64),
                ("row_stride", ctypes.c_int64), ("col_stride", ctypes.c_int64), ("transpose", ctypes.c_int),
                ("type", ctypes.c_int), ("reserved", ctypes.c_int), ("shards", pointer)]


class GemmDesc(ctypes.Structure):
    _fields_ = [("m", ctypes.c_int64), ("n", ctypes.c_int64), ("k", ctypes.c_int64),
                ("a", Matrix), ("b", Matrix), ("c", Result),
                ("alpha", pointer), ("beta", pointer)]  # without structure, epilogue and options


class Operands(ctypes.Structure):
    _fields_ = [("a", ctypes.POINTER(Matrix)), ("b", ctypes.POINTER(Matrix)), ("c", ctypes.POINTER(Result))]


def must(status):
    if status != 0:
        sys.exit(f"pyopencl_queue: {lib.tesela_last_error().decode()}")


def sized(struct):
    """Returns a struct's address, and its size for the functions whose names end in _sized."""
    return ctypes.byref(struct), ctypes.c_size_t(ctypes.sizeof(struct))


# Objects of the program.
cl = pyopencl.Context([pyopencl.get_platforms()[0].get_devices()[0]])
queue = pyopencl.CommandQueue(cl)
random = numpy.random.default_rng(1)
a = pyopencl.array.to_device(queue, random.integers(-3, 4, (M, K)).astype(numpy.float32))
b = pyopencl.array.to_device(queue, random.integers(-3, 4, (K, N)).astype(numpy.float32))
c = pyopencl.array.zeros(queue, (M, N), numpy.float32)

# Their wrappers for tesela.
context, stream, plan = pointer(), pointer(), pointer()
given, size = sized(ContextDesc(device=b"opencl", opencl_context=cl.int_ptr))
must(lib.tesela_context_create_sized(given, ctypes.byref(context), size))
must(lib.tesela_stream_wrap(context, b"opencl:0", pointer(queue.int_ptr), ctypes.byref(stream)))
desc = GemmDesc(m=M, n=N, k=K)
for operand, array in ((desc.a, a), (desc.b, b), (desc.c, c)):
    buffer = pointer()
    must(lib.tesela_buffer_wrap(context, b"opencl:0", pointer(array.data.int_ptr), ctypes.c_size_t(0),
                                ctypes.byref(buffer)))
    operand.buffer, operand.type = buffer, F32
given, size = sized(desc)
must(lib.tesela_plan_create_sized(context, 0, given, ctypes.byref(plan), size))
info = PlanInfo()
lib.tesela_plan_info_sized(plan, ctypes.byref(info), ctypes.c_size_t(ctypes.sizeof(info)))
must(lib.tesela_stream_reserve(stream, ctypes.c_size_t(info.workspace)))
print(info.text.decode())

# In the queue's order: the program's own work, the product, the program's again.
a *= 2
given, size = sized(Operands(ctypes.pointer(desc.a), ctypes.pointer(desc.b), ctypes.pointer(desc.c)))
must(lib.tesela_plan_enqueue_sized(plan, stream, given, None, size))
c += 1
expected = 2 * (a.get() / 2).astype(numpy.float64) @ b.get() + 1
worst = numpy.abs(c.get() - expected).max()
print(f"{M} x {K} times {K} x {N} on pyopencl's queue: largest difference from NumPy {worst:g}")

lib.tesela_plan_destroy(plan)
for operand in (desc.a, desc.b, desc.c):
    lib.tesela_buffer_destroy(pointer(operand.buffer))
lib.tesela_stream_destroy(stream)
lib.tesela_context_destroy(context)
sys.exit(1 if worst > 0 else 0)  # small integers: exact
