#!/usr/bin/env python3
"""Compares NumPy's products by its own BLAS with products by the drop-in on several devices.

    numpy_devices.py [--tesela PATH] [--sizes 1000,4096] [--types f4,f8] [--devices own,cpu,cuda:0,auto]
                     [--calls 5]

Each device has its own program, started by `tesela run`. Prints milliseconds for each size: the first call,
the slowest call, and the median of the last calls. The first call may open the device and compile kernels.
Operands and results are in pageable memory, and each result is a new array. With auto, calls continue for
--settle seconds, while kernels are compiled in the background. One row of each product is compared with sums
in double precision, computed in another way.
"""
import argparse
import json
import os
import subprocess
import sys
import time


def measure(types, sizes, calls, settle):
    import numpy as np

    for kind in types:
        for size in sizes:
            random = np.random.default_rng(size)
            a = random.standard_normal((size, size)).astype(kind)
            b = random.standard_normal((size, size)).astype(kind)
            seconds = []
            while len(seconds) < calls + 1 or sum(seconds) < settle:
                start = time.perf_counter()
                c = a @ b
                seconds.append(time.perf_counter() - start)
            row = size * 7 // 8
            exact = np.zeros(size)
            weight = np.zeros(size)
            for i in range(size):
                term = float(a[row, i]) * b[i].astype(np.float64)
                exact += term
                weight += abs(term)
            bound = (size + 4) * np.finfo(kind).eps / 2 * weight
            print(json.dumps({"type": kind, "size": size, "first": seconds[0],
                              "later": sorted(seconds[-calls:])[calls // 2], "slowest": max(seconds),
                              "right": bool((abs(c[row] - exact) <= bound).all())}), flush=True)


def run(options, device):
    settle = options.settle if device == "auto" else 0
    child = [sys.executable, os.path.abspath(__file__), "--child", "--sizes", options.sizes,
             "--types", options.types, "--calls", str(options.calls), "--settle", str(settle)]
    if device != "own":
        child = [options.tesela, "run", "--device", device, "--"] + child
    output = subprocess.run(child, stdout=subprocess.PIPE, check=True, text=True).stdout
    return {(row["type"], row["size"]): row for row in map(json.loads, output.splitlines())}


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--tesela", default="tesela")
    parser.add_argument("--sizes", default="1000,1500,2000,3000,4096,8192")
    parser.add_argument("--types", default="f4,f8")
    parser.add_argument("--devices", default="own,cpu,cuda:0,auto")
    parser.add_argument("--calls", type=int, default=5)
    parser.add_argument("--settle", type=float, default=3)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    types, sizes = options.types.split(","), [int(size) for size in options.sizes.split(",")]
    if options.child:
        return measure(types, sizes, options.calls, options.settle)
    devices = options.devices.split(",")
    rows = {device: run(options, device) for device in devices}
    print("ms: median of the last calls (first call, slowest call)")
    print("type   size" + "".join("%24s" % device for device in devices))
    for kind in types:
        for size in sizes:
            cells = [rows[device][kind, size] for device in devices]
            print("%-4s %6d" % (kind, size) + "".join(
                "%24s" % ("%.2f (%.0f, %.0f)%s" % (1e3 * cell["later"], 1e3 * cell["first"],
                                                   1e3 * cell["slowest"], "" if cell["right"] else " WRONG"))
                for cell in cells))
    return 0 if all(cell["right"] for table in rows.values() for cell in table.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
