"""Times tesela.torch against PyTorch on a CUDA device, by turns:

    torch_patch.py [--steps N] [--types float32,bfloat16] [--patches default,always,rows] [--json FILE]

A two-layer perceptron and a small transformer are trained from the same start: losses, and milliseconds of a
step. Then the program's microseconds to queue a call: by tesela.torch, by PyTorch, and under patch()."""

import argparse
import datetime
import json
import math
import pathlib
import statistics
import sys
import time

import tesela.torch
import torch
from torch.nn import functional

from tesela import _torch_patch  # noqa: I001  (its _activate turns one patch() off and on)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "python"))
import torch_models  # noqa: E402


def host_microseconds(calls, rounds=15, repeats=200):
    """Returns the median time to queue each call."""
    times = {name: [] for name in calls}
    for call in calls.values():
        for _ in range(30):
            call()
    torch.cuda.synchronize()
    for _ in range(rounds):
        for name, call in calls.items():
            begin = time.perf_counter()
            for _ in range(repeats):
                call()
            times[name].append((time.perf_counter() - begin) / repeats * 1e6)
            torch.cuda.synchronize()
    return {name: statistics.median(several) for name, several in times.items()}


PATCHES = {"default": {}, "always": {"always": True}, "rows": {"bits": "rows"}}


def queue(dtype, size):
    """Prints and returns the times to queue products and layers."""
    a, b = (torch.randn(size, size, device="cuda").to(dtype) for _ in range(2))
    row = torch.randn(size, device="cuda").to(dtype)
    calls = {"tesela.torch.mm": lambda: tesela.torch.mm(a, b), "torch.mm": lambda: torch.mm(a, b),
             "tesela.torch.linear": lambda: tesela.torch.linear(a, b, row),
             "functional.linear": lambda: functional.linear(a, b, row)}
    plain = host_microseconds(calls)
    with tesela.torch.patch(always=True):
        others = {f"patched {name}": call for name, call in calls.items() if not name.startswith("tesela")}
        plain |= host_microseconds(others)
    row = {"type": str(dtype)[len("torch."):], "size": size, **plain}
    print(f"{row['type']:8} {size:5} cubed, us to queue: "
          + ", ".join(f"{name} {value:.2f}" for name, value in plain.items())
          + f"; torch.mm / tesela.torch.mm {plain['torch.mm'] / plain['tesela.torch.mm']:.3f}", flush=True)
    return row


def trained(name, dtype, steps):
    """Returns an iterator over the losses of a training."""
    width, shape = (1024, (512,)) if name == "perceptron" else (512, (8, 256))
    model = torch_models.make_model(name, width, device="cuda", dtype=dtype, heads=8, depth=4, is_fused=True)
    return torch_models.train(name, model, shape, steps)


def race_training(name, dtype, label, steps, block=10):
    """Trains twice plain and once patched, in turn, a block of steps each. Prints and returns the results."""
    runs = {"plain": trained(name, dtype, steps), "patched": trained(name, dtype, steps),
            "again": trained(name, dtype, steps)}
    losses, times = ({run: [] for run in runs} for _ in range(2))
    patch = tesela.torch.patch(**PATCHES[label])
    states = {}
    for _ in range(steps // block):
        for run, iterator in runs.items():
            _torch_patch._activate(patch if run == "patched" else None)
            torch.random.set_rng_state(states.get(run, torch.random.get_rng_state()))
            torch.cuda.set_rng_state(states.get((run, "cuda"), torch.cuda.get_rng_state()))
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(block):
                losses[run].append(next(iterator))
            torch.cuda.synchronize()
            times[run].append((time.perf_counter() - begin) * 1e3 / block)
            states[run], states[run, "cuda"] = torch.random.get_rng_state(), torch.cuda.get_rng_state()
    patch.__exit__()
    losses = {run: [loss.item() for loss in several] for run, several in losses.items()}
    late = {run: several[len(several) // 4:] for run, several in times.items()}
    plain, again = losses["plain"], losses["again"]
    ratios = sorted(patched * 2 / (one + other)
                    for one, patched, other in zip(late["plain"], late["patched"], late["again"]))

    quartiles = [ratios[len(ratios) // 4], ratios[-len(ratios) // 4]]

    def largest(others):
        return max(abs(x - y) / y if x == x else math.inf for x, y in zip(others, plain))

    report = patch.report()
    row = {"model": name, "type": str(dtype)[len("torch."):], "patch": label, "steps": steps,
           **{f"{run}_ms": statistics.median(several) for run, several in late.items()},
           "ratio": statistics.median(ratios), "ratio_quartiles": quartiles,
           "plain_noise": statistics.median(other / one for one, other in zip(late["plain"], late["again"])),
           "first_loss": plain[0], "plain_loss": plain[-1], "patched_loss": losses["patched"][-1],
           "plain_differs": largest(again), "patched_differs": largest(losses["patched"]),
           "by_tesela": sum(each.tesela for each in report), "by_torch": sum(each.torch for each in report),
           "products": [each._asdict() for each in report]}
    print(f"{name:11} {row['type']:8} {label:8} "
          f"loss {plain[0]:.4f} -> {plain[-1]:.5f}, {row['patched_loss']:.5f}; "
          f"steps differ by {row['patched_differs']:.1e} (plain again {row['plain_differs']:.1e}); "
          f"ms plain {row['plain_ms']:.3f}, patched {row['patched_ms']:.3f}, plain {row['again_ms']:.3f}; "
          f"patched / plain {row['ratio']:.3f} ({quartiles[0]:.3f} to {quartiles[1]:.3f}), "
          f"plain / plain {row['plain_noise']:.3f}; calls {row['by_tesela']} + {row['by_torch']}", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--types", default="float32,bfloat16")
    parser.add_argument("--patches", default=",".join(PATCHES))
    parser.add_argument("--json", help="file for the rows")
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, tesela {tesela.__version__}")
    types = [getattr(torch, name) for name in options.types.split(",")]
    rows = [race_training(name, dtype, label, options.steps) for dtype in types
            for name in ("perceptron", "transformer") for label in filter(None, options.patches.split(","))]
    rows += [queue(dtype, size) for dtype in types for size in (64, 1024)]
    if options.json:
        date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"date": date, "torch": torch.__version__, "tesela": tesela.__version__,
                       "device": torch.cuda.get_device_name(), "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
