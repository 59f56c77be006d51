"""Times products of PyTorch's CUDA tensors by tesela.matmul and torch.mm, in turn:

    python_device.py [SIZE] [TYPE]

host: microseconds of the program for a call that queues its work. both: microseconds of a call and of its
work on the device. Calls are queued in a row, and the program waits at the end. Medians of rounds."""

import statistics
import sys
import time

import tesela
import torch

size = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
kind = getattr(torch, sys.argv[2] if len(sys.argv) > 2 else "bfloat16")
a, b = (torch.randn(size, size, device="cuda").to(kind) for _ in range(2))
out = torch.empty_like(a)
calls = {
    "tesela.matmul(a, b)": lambda: tesela.matmul(a, b),
    "torch.mm(a, b)": lambda: torch.mm(a, b),
    "tesela.matmul(a, b, out=out)": lambda: tesela.matmul(a, b, out=out),
    "torch.mm(a, b, out=out)": lambda: torch.mm(a, b, out=out),
}
for call in calls.values():
    for _ in range(20):
        call()
torch.cuda.synchronize()
host, both = ({name: [] for name in calls} for _ in range(2))
for _ in range(15):
    for name, call in calls.items():
        begin = time.perf_counter()
        for _ in range(200):
            call()
        queued = time.perf_counter()
        torch.cuda.synchronize()
        host[name].append((queued - begin) / 200 * 1e6)
        both[name].append((time.perf_counter() - begin) / 200 * 1e6)
print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, tesela {tesela.__version__}, "
      f"{size} cubed, {kind}")
for name in calls:
    print(f"{name:30} host {statistics.median(host[name]):7.2f} us, "
          f"both {statistics.median(both[name]):7.2f} us")
