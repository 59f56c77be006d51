"""Times products of PyTorch (eager) or CuPy with and without the cuBLAS drop-in:

    cublas_drawn.py {torch,cupy} SEED COUNT LIBTESELA_CUBLAS [SECONDS]

Products are drawn from SEED. Processes with and without the drop-in run by turns, two of each, and call the
products for SECONDS (10) before they time them. One line a product: microseconds of a call in a row of calls
(the least), and the ratio. Results are compared by sums. Then the geometric mean and the lowest ratio."""

import json
import math
import os
import random
import subprocess
import sys
import time

TYPES = {"float32": 1e-4, "float64": 1e-11, "complex64": 1e-4, "complex128": 1e-11, "float16": 2e-2,
         "bfloat16": 1e-1}


def draw(seed, count, library):
    rng = random.Random(seed)
    kinds = [kind for kind in TYPES if library == "torch" or kind not in ("float16", "bfloat16")]

    def size(most):
        drawn = int(math.exp(rng.uniform(math.log(16), math.log(most))))
        return (drawn + 7) // 8 * 8 if rng.random() < .6 else drawn

    for _ in range(count):
        batch = rng.choice([0, 0, 0, 4, 32])
        most = 256 if batch else 1024
        sizes = size(most), size(most), size(most)
        yield rng.choice(kinds), batch, *sizes, rng.random() < .5, rng.random() < .5


def operands(module, kind, batch, m, n, k, turn_a, turn_b, seed):
    stack = (batch,) if batch else ()

    def array(rows, cols, turned, number):
        shape = (*stack, cols, rows) if turned else (*stack, rows, cols)
        if module.__name__ == "torch":
            generator = module.Generator(device="cuda").manual_seed(seed * 7 + number)
            real = "complex64" if kind.startswith("complex") else "float32"
            made = module.randn(shape, device="cuda", generator=generator,
                                dtype=getattr(module, real)).to(getattr(module, kind))
            return made.transpose(-1, -2) if turned else made
        rng = module.random.RandomState(seed * 7 + number)
        made = rng.standard_normal(shape)
        made = (made + 1j * rng.standard_normal(shape) if kind.startswith("complex") else made).astype(kind)
        return made.swapaxes(-1, -2) if turned else made

    return array(m, k, turn_a, 0), array(k, n, turn_b, 1)


def measure(library, seed, count, seconds):
    """Prints microseconds and a sum for each product, as JSON."""
    if library == "torch":
        import torch as module
        wait = module.cuda.synchronize
    else:
        import cupy as module
        wait = module.cuda.runtime.deviceSynchronize
    products = [operands(module, *product, seed + i)
                for i, product in enumerate(draw(seed, count, library))]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for a, b in products:
            module.matmul(a, b)
        wait()
        time.sleep(.02)
    rows = []
    for a, b in products:
        least = math.inf
        for _ in range(9):
            wait()
            begin = time.perf_counter()
            for _ in range(50):
                module.matmul(a, b)
            wait()
            least = min(least, (time.perf_counter() - begin) / 50 * 1e6)
        c = module.matmul(a, b).reshape(-1)
        total = complex(c.to(module.complex128).sum()) if library == "torch" else complex(
            c.astype("complex128").sum())
        largest = float(abs(c).max())
        rows.append((least, total.real, total.imag, largest * math.sqrt(c.shape[0])))
    print(json.dumps(rows))


def run(arguments, preloaded):
    settings = dict(os.environ, LD_PRELOAD=preloaded) if preloaded else os.environ
    words = [sys.executable, __file__, "measure", *arguments]
    made = subprocess.run(words, env=settings, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(made.stdout.splitlines()[-1])


if sys.argv[1] == "measure":
    measure(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
    sys.exit()
library, seed, count, drop_in = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
call = [library, str(seed), str(count), sys.argv[5] if len(sys.argv) > 5 else "10"]
times = {True: [], False: []}
for turn in range(4):
    times[turn % 2 == 0].append(run(call, drop_in if turn % 2 == 0 else ""))
logs, wrong = [], 0
for i, (kind, batch, m, n, k, turn_a, turn_b) in enumerate(draw(seed, count, library)):
    ours, theirs = (min(rows[i][0] for rows in times[side]) for side in (True, False))
    one, other = times[True][0][i], times[False][0][i]
    is_wrong = not abs(complex(*one[1:3]) - complex(*other[1:3])) <= TYPES[kind] * max(other[3], 1e-30)
    wrong += is_wrong
    logs.append(math.log(theirs / ours))
    print(f"{library:6}{kind:11}{'NT'[turn_a]}{'NT'[turn_b]} {m:5} x {n:5} x {k:5} x {batch:3}  "
          f"{ours:8.2f} {theirs:8.2f} us, ratio {theirs / ours:5.2f}{'  WRONG' if is_wrong else ''}")
mean, lowest = math.exp(sum(logs) / len(logs)), math.exp(min(logs))
print(f"mean {mean:.3f}, least {lowest:.3f}, {wrong} of {count} wrong")
