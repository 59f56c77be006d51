"""Tables of the ladder, from bench/results/nvidia-h200/ladder-*.json (bench/ladder.sh measures them)."""
import json
import os

import result_age

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join("bench", "results", "nvidia-h200")
COLUMNS = (("cpu", "16 cores"), ("opencl:0", "PoCL"), ("opencl:1", "H200, OpenCL"), ("cuda:0", "H200, CUDA"))


def read(name):
    with open(os.path.join(ROOT, FOLDER, name), encoding="utf-8") as file:
        return json.load(file)


def number(value):
    """Three digits, or all before the point."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def rows(results, quantity, cases, columns=COLUMNS, strategies=None, by="strategy"):
    """Returns one line for each strategy or config, with a column for each case and device.

    A case is a filter of entries and a caption.
    """
    names = dict.fromkeys(entry[by] for result in results for entry in result["entries"] if not strategies
                          or entry["strategy"] in strategies)
    best = {}
    for result in results:
        for entry in result["entries"]:
            value = entry.get(quantity)
            for index, (wanted, _) in enumerate(cases):
                if value and entry["result"] == "right" and all(entry[key] == wanted[key] for key in wanted):
                    key = entry[by], index, entry["device"]
                    best[key] = max(best.get(key, 0), value)
    shown = [(index, device) for index in range(len(cases)) for device, _ in columns
             if any(key[0] in names and key[1:] == (index, device) for key in best)]
    titles = dict(columns)
    lines = [f"| {by} | " + " | ".join(f"{titles[device]}{cases[index][1]}" for index, device in shown)
             + " |", "|---|" + "---:|" * len(shown)]
    for name in names:
        cells = [best.get((name, index, device)) for index, device in shown]
        if any(cells):
            lines.append(f"| {name} | " + " | ".join(cells_of(cells, quantity)) + " |")
    return lines


def cells_of(cells, quantity):
    scale = 1 if quantity == "speedup" else 1e9
    return [number(value / scale) if value else "" for value in cells]


def age(results):
    """Returns the date of the oldest result, and the mark of an old date."""
    date = min(result["date"] for result in results)
    return date[:10] + result_age.mark(date)


def versions(results, strategies):
    """Returns the versions of the peers in a table; a table of these strategies may have none."""
    found = {entry["peer"] for result in results for entry in result["entries"]
             if entry.get("peer") and (not strategies or entry["strategy"] in strategies)}
    return "; " + ", ".join(sorted(found)) if found else ""


def links(names):
    return ", ".join(f"[{name}]({os.path.join(FOLDER, name)})" for name in names)


def section(names, quantity, cases, caption, **which):
    results = [read(name) for name in names]
    peers = versions(results, which.get("strategies"))
    return "\n".join([f"{caption} ({links(names)}, {age(results)}{peers}):", "",
                      *rows(results, quantity, cases, **which)])


def table():
    square = lambda n, kind="f32": {"m": n, "n": n, "k": n, "type": kind}
    return "\n\n".join([
        section(["ladder-gemm.json", "ladder-gemm-large.json"], "flops_per_second",
                [(square(1024), ", 1024"), (square(4096), ", 4096")], "Products in f32, GFLOP/s"),
        section(["ladder-gemm.json"], "speedup", [(square(512), ", f32"), (square(512, "f64"), ", f64")],
                "The same at 512 as speed-ups over `sequential`, the triple loop without optimisation"),
        section(["ladder-narrow.json"], "flops_per_second",
                [(square(4096, "bf16:f32"), ", bf16"), (square(4096, "i8"), ", i8")],
                "Products of narrow types at 4096, row-major, 10^9 operations a second"),
        section(["ladder-dot-large.json"], "bytes_per_second", [({"k": 1 << 28, "type": "f32"}, "")],
                "Dot products of 2^28 numbers in f32, GB/s; a copy on this H200 moves 4,288, "
                "reading alone 4,468"),
        section(["ladder-transpose.json"], "bytes_per_second", [({"m": 16384, "type": "f32"}, "")],
                "Transposes of 16384 x 16384 in f32, GB/s read and written"),
    ])
