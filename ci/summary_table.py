"""Makes the README's table: eight products and the best other library, from bench/results/nvidia-h200."""
import json
import os

import host_table
import result_age

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join("bench", "results", "nvidia-h200")
# Place, size, type, and the file with the row; a device for results of `tesela explore`.
ROWS = (
    ("one core", 16, "f32", "host-small.json", None),
    ("one core", 256, "f32", "host-f32.json", None),
    ("one core", 2048, "f64", "host-f64.json", None),
    ("one core, AMX", 2048, "bf16", "host-narrow.json", None),
    ("16 cores", 4096, "f32", "host-threads-16.json", None),
    ("H200, OpenCL", 4096, "f32", "ladder-gemm-large.json", "opencl:1"),
    ("H200, CUDA", 4096, "f32", "ladder-gemm-large.json", "cuda:0"),
    ("H200, CUDA", 4096, "f64", "ladder-f64.json", "cuda:0"),
)
NAMES = {"openblas": "OpenBLAS", "blis": "BLIS", "onednn": "oneDNN", "vendor_clblast": "CLBlast",
         "vendor_cublas": "cuBLAS", "vendor_cublaslt": "cuBLASLt"}


def rates_of(result, size, kind, device):
    """Returns operations a second by library; tesela's best has the key "tesela"."""
    wanted = lambda row: row["m"] == row["n"] == row["k"] == size and row["type"] == kind
    if device:
        rates = {}
        for entry in result["entries"]:
            right = entry["device"] == device and entry["result"] == "right"
            if wanted(entry) and right and entry["flops_per_second"]:
                name = entry["strategy"] if entry["strategy"].startswith("vendor_") else "tesela"
                rates[name] = max(rates.get(name, 0), entry["flops_per_second"])
        return rates
    row = next(filter(wanted, result["rows"]))
    if "flops_per_second" in row:
        return {name: rate for name, rate in row["flops_per_second"].items() if rate}
    seconds = {name: time for name, time in row["seconds"].items() if time
               and name not in ("one-shot", "batch", "drop-in")}
    return {{"plan": "tesela"}.get(name, name): 2 * size**3 / time for name, time in seconds.items()}


def label(result, name):
    """Returns the name and version of a library of a result; the version is missing in old files."""
    reported = [entry["peer"] for entry in result.get("entries", ())
                if entry["strategy"] == name and entry.get("peer")]
    if name in result.get("peers", {}):
        reported = [host_table.version(result["peers"][name])]
    title = NAMES.get(name, name)
    words = reported[0].split() if reported else []
    return " ".join([title, *(word for word in words[:2] if word[0].isdigit())])


def number(rate):
    return f"{rate / 1e9:.0f}" if rate >= 1e11 else f"{rate / 1e9:.3g}"


def table():
    lines = ["| where | n | type | tesela | best other | ratio | results |",
             "|---|---:|---|---:|---:|---:|---|"]
    for where, size, kind, name, device in ROWS:
        path = os.path.join(FOLDER, name)
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            result = json.load(file)
        rates = rates_of(result, size, kind, device)
        own = rates.pop("tesela")
        other = max(rates, key=rates.get)
        lines.append(f"| {where} | {size} | {kind} | {number(own)} | {number(rates[other])} "
                     f"{label(result, other)} | {own / rates[other]:.2f} | "
                     f"[{name}]({path}){result_age.mark(result['date'])} |")
    return "\n".join(lines)
