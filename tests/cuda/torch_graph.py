#!/usr/bin/env python3
"""torch_graph.py LIBTESELA: PyTorch's tensors multiplied on its stream and in a CUDA graph by C functions.

Products are captured into the graph and replayed. Run by hand; needs a CUDA device and PyTorch. The exit code
is 1 if a result is wrong."""
import ctypes as c
import sys
import time

import torch

lib = c.CDLL(sys.argv[1])
lib.tesela_last_error.restype = c.c_char_p


class Memory(c.Structure):
    _fields_ = [("native", c.c_void_p), ("device", c.c_char_p), ("bytes", c.c_size_t)]


class PlanInfo(c.Structure):
    _fields_ = [("text", c.c_char_p), ("seconds", c.c_double), ("workspace", c.c_size_t)]


lib.tesela_buffer_memory.restype = Memory
lib.tesela_buffer_memory.argtypes = [c.c_void_p]


class Matrix(c.Structure):
    _fields_ = [("data", c.c_void_p), ("buffer", c.c_void_p), ("offset", c.c_int64),
                ("row_stride", c.c_int64), ("col_stride", c.c_int64),
                ("transpose", c.c_int), ("type", c.c_int), ("conjugate", c.c_int),
                ("packed", c.c_void_p), ("shards", c.c_void_p)]


class Result(c.Structure):
    _fields_ = [("data", c.c_void_p), ("buffer", c.c_void_p), ("offset", c.c_int64),
                ("row_stride", c.c_int64), ("col_stride", c.c_int64),
                ("transpose", c.c_int), ("type", c.c_int), ("reserved", c.c_int), ("shards", c.c_void_p)]


class GemmDesc(c.Structure):
    _fields_ = [("m", c.c_int64), ("n", c.c_int64), ("k", c.c_int64),
                ("a", Matrix), ("b", Matrix), ("c", Result),
                ("alpha", c.c_void_p), ("beta", c.c_void_p)]  # without structure, epilogue and options


class Operands(c.Structure):
    _fields_ = [("a", c.POINTER(Matrix)), ("b", c.POINTER(Matrix)), ("c", c.POINTER(Result))]


def must(status, what):
    if status != 0:
        sys.exit(f"{what}: {lib.tesela_last_error().decode()}")


def refused(status, words, what):
    if status == 0 or words not in lib.tesela_last_error().decode():
        sys.exit(f"{what}: {status} {lib.tesela_last_error().decode()}")


context = c.c_void_p()
must(lib.tesela_context_create_sized(None, c.byref(context), c.c_size_t(0)), "a context")


def wrap(tensor):
    buffer = c.c_void_p()
    must(lib.tesela_buffer_wrap(context, None, c.c_void_p(tensor.data_ptr()),
                                c.c_size_t(tensor.numel() * tensor.element_size()), c.byref(buffer)),
                                "a tensor")
    assert lib.tesela_buffer_memory(buffer).native == tensor.data_ptr()
    return buffer


def stream_of(torch_stream):
    stream = c.c_void_p()
    must(lib.tesela_stream_wrap(context, b"cuda:0", c.c_void_p(torch_stream.cuda_stream), c.byref(stream)),
         "a stream")
    return stream


TYPES = {torch.float32: 2, torch.bfloat16: 4, torch.float64: 1}
for dtype, result_type, m, n, k in [(torch.float32, torch.float32, 256, 256, 256),
                                    (torch.float32, torch.float32, 300, 77, 1000),
                                    (torch.bfloat16, torch.bfloat16, 1024, 1024, 1024),
                                    (torch.bfloat16, torch.float32, 64, 4096, 4096),
                                    (torch.bfloat16, torch.float32, 1023, 511, 777),
                                    (torch.float64, torch.float64, 512, 512, 512)]:
    a = torch.randint(-3, 4, (m, k), device="cuda").to(dtype)
    b = torch.randint(-3, 4, (k, n), device="cuda").to(dtype)
    out = torch.zeros(m, n, device="cuda", dtype=result_type)
    buffers = [wrap(t) for t in (a, b, out)]
    desc = GemmDesc(m=m, n=n, k=k)
    for operand, buffer, kind in zip((desc.a, desc.b, desc.c), buffers, (dtype, dtype, result_type)):
        operand.buffer, operand.type = buffer, TYPES[kind]
    plan = c.c_void_p()
    must(lib.tesela_plan_create_sized(context, 0, c.byref(desc), c.byref(plan), c.c_size_t(c.sizeof(desc))),
         "a plan")
    info = PlanInfo()
    lib.tesela_plan_info_sized(plan, c.byref(info), c.c_size_t(c.sizeof(info)))
    workspace = torch.empty(max(1, info.workspace), dtype=torch.uint8, device="cuda")
    work = wrap(workspace)

    def enqueue(stream):
        operands = Operands(c.pointer(desc.a), c.pointer(desc.b), c.pointer(desc.c))
        size = c.c_size_t(c.sizeof(operands))
        must(lib.tesela_plan_enqueue_sized(plan, stream, c.byref(operands), work, size), "enqueue")

    right = (a.double() @ b.double()).to(result_type)
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        stream = stream_of(side)
        enqueue(stream)
        once = out.clone()
    side.synchronize()
    assert torch.equal(once, right), "queued on torch's stream"
    out.zero_()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = stream_of(torch.cuda.current_stream())
        enqueue(captured)
        doubled = out * 2
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out, once), "the same bits from a graph"
    assert torch.equal(doubled, once * 2)
    a.neg_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out, -once), "a graph reads the operands when it runs"
    start = time.perf_counter()
    for _ in range(1000):
        enqueue(stream)
    host = (time.perf_counter() - start) / 1000
    side.synchronize()
    print(f"{dtype} {m}x{n}x{k}: graph and stream agree with torch; {host * 1e6:.1f} us a call from Python; "
          f"{info.text.decode()[:90]}")

pinned = torch.zeros(64, pin_memory=True)
nothing = c.c_void_p()
refused(lib.tesela_buffer_wrap(context, b"cuda:0", c.c_void_p(1 << 40), c.c_size_t(64), c.byref(nothing)),
        "CUDA does not know the address", "a wild pointer")
plain = c.create_string_buffer(64)
refused(lib.tesela_buffer_wrap(context, b"cuda:0", plain, c.c_size_t(64), c.byref(nothing)),
        "CUDA does not know the address", "host memory")
must(lib.tesela_buffer_wrap(context, None, plain, c.c_size_t(64), c.byref(nothing)), "host memory, asked")
assert lib.tesela_buffer_memory(nothing).device == b"cpu"
must(lib.tesela_buffer_wrap(context, b"cuda:0", c.c_void_p(pinned.data_ptr()), c.c_size_t(256),
                            c.byref(nothing)), "pinned memory")
if torch.cuda.device_count() > 1:
    far = torch.zeros(64, device="cuda:1")
    refused(lib.tesela_buffer_wrap(context, b"cuda:0", c.c_void_p(far.data_ptr()), c.c_size_t(256),
                                   c.byref(nothing)),
            "memory of CUDA's device 1", "another device's memory")
    must(lib.tesela_buffer_wrap(context, None, c.c_void_p(far.data_ptr()), c.c_size_t(256), c.byref(nothing)),
         "asked")
    assert lib.tesela_buffer_memory(nothing).device == b"cuda:1"
    other = torch.cuda.Stream(device=1)
    refused(lib.tesela_stream_wrap(context, b"cuda:0", c.c_void_p(other.cuda_stream), c.byref(nothing)),
            "device 1", "another's stream")

    def on(numbers):
        desc = GemmDesc(m=96, n=80, k=64)
        shapes, tensors = ((96, 64), (64, 80), (96, 80)), []
        for operand, shape, number in zip((desc.a, desc.b, desc.c), shapes, numbers):
            tensors.append(torch.randint(-3, 4, shape, device=f"cuda:{number}").float())
            operand.buffer, operand.type = wrap(tensors[-1]), 2
        torch.cuda.synchronize(0)
        torch.cuda.synchronize(1)
        return desc, tensors

    desc, (a, b, out) = on((1, 1, 1))
    before = torch.cuda.current_device()
    must(lib.tesela_call_sized(context, 0, c.byref(desc), None, c.c_size_t(c.sizeof(desc)), c.c_size_t(0)),
         "operands on cuda:1")
    assert torch.equal(out, a @ b), "a product on cuda:1"
    assert torch.cuda.current_device() == before, "the caller's device stays"
    for numbers in ((0, 1, 1), (1, 1, 0), (1, 0, 1)):
        desc, tensors = on(numbers)
        refused(lib.tesela_call_sized(context, 0, c.byref(desc), None, c.c_size_t(c.sizeof(desc)),
                                      c.c_size_t(0)), "cuda:1", f"operands on {numbers}")
        print(lib.tesela_last_error().decode())
    print("a product on the second device is right, and one on two devices is refused")
torch.zeros(8, device="cuda").add_(1)
torch.cuda.synchronize()  # the context lives
print("wrong pointers were refused, and the context lives")
