#!/usr/bin/env python3
"""NumPy's products by its own BLAS and by the drop-in on one device or another, side by side.

    numpy_devices.py [--tesela PATH] [--sizes 1000,4096] [--types f4,f8] [--devices own,cpu,cuda:0,auto] [--calls 5]

Each device is a program of its own, started by `tesela run`. Of each size there is the first call, in which a device may be
opened and kernels compiled, the slowest of all, and the median of the last ones, in milliseconds, with operands and results
in pageable memory and a new array for each result. With auto, calls go on for --settle seconds, since kernels are compiled
beside the first ones. One row of each product is compared with sums made in double precision by another way.
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
    child = [sys.executable, os.path.abspath(__file__), "--child", "--sizes", options.sizes, "--types", options.types,
             "--calls", str(options.calls), "--settle", str(options.settle if device == "auto" else 0)]
    if device != "own":
        child = [options.tesela, "run", "--device", device, "--"] + child
    output = subprocess.run(child, stdout=subprocess.PIPE, check=True, text=True).stdout
    return {(row["type"], row["size"]): row for row in map(json.loads, output.splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
                "%24s" % ("%.2f (%.0f, %.0f)%s" % (1e3 * cell["later"], 1e3 * cell["first"], 1e3 * cell["slowest"], "" if cell["right"] else " WRONG"))
                for cell in cells))
    return 0 if all(cell["right"] for table in rows.values() for cell in table.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
