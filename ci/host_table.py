"""Makes tables of products on CPU cores, from bench/results/<machine>/host-*.json (see bench/host.sh)."""
import json
import os

import result_age

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def version(text):
    """Returns a library's name and version without its list of build options."""
    words = text.replace("Intel(R) oneAPI Math Kernel Library Version",
                         "MKL").replace("-Product", " Product").split()
    if words and words[0] == "OpenBLAS": # name, version, options, what its kernels are for, threads
        return " ".join(words[:2] + [word for word in words[-2:-1] if word != "NO_AFFINITY"])
    return " ".join(words[: words.index("Product")] if "Product" in words else words)


def cell(row):
    """Returns GFLOP/s, the best peer, and the ratio."""
    rates = row["flops_per_second"]
    own = rates["tesela"]
    others = {name: rate for name, rate in rates.items() if name != "tesela" and rate}
    if not others or not own:
        return ["", "", ""]
    best = max(others, key=others.get)
    return [f"{own / 1e9:.4g}", f"{others[best] / 1e9:.4g} {best}", f"{own / others[best]:.2f}"]


def products(result, kinds=("f32", "f64")):
    """Returns one line for each shape, with the types in columns."""
    lines = ["| m x n x k |" + "".join(f" {kind} | best peer | over it | of the peak |" for kind in kinds),
             "|---|" + "---:|---:|---:|---:|" * len(kinds)]
    rows = {(row["m"], row["n"], row["k"], row["type"]): row for row in result["rows"]}
    for m, n, k in dict.fromkeys(key[:3] for key in rows):
        cells = [f"{m} x {n} x {k}"]
        for kind in kinds:
            row = rows.get((m, n, k, kind))
            cells += cell(row) if row else ["", "", ""]
            peak = row and row["peak"] and row["flops_per_second"]["tesela"]
            cells.append(f"{100 * row['flops_per_second']['tesela'] / row['peak']:.0f}%" if peak else "")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def narrow(result):
    """Returns the lines of the measured narrow types; u8i8 is u8 times i8."""
    return products(result, tuple(dict.fromkeys(row["type"] for row in result["rows"])))


def small(result):
    """Returns nanoseconds a call, one column for each library."""
    names = list(result["rows"][0]["seconds"])
    shown = [name for name in names if name not in ("one-shot", "batch")]
    lines = ["| type | m x n x k | " + " | ".join(shown) + " |", "|---|---|" + "---:|" * len(shown)]
    for row in result["rows"]:
        values = [f"{row['seconds'][name] * 1e9:.4g}" if row["seconds"].get(name) else "" for name in shown]
        lines.append(f"| {row['type']} | {row['m']} x {row['n']} x {row['k']} | " + " | ".join(values) + " |")
    return lines


def curve(results):
    """Returns one line for each number of threads: GFLOP/s, and the ratio to the best peer."""
    rows = {(row["m"], row["n"], row["k"], row["type"], result["threads"]): row for result in results
            for row in result["rows"]}
    shapes = list(dict.fromkeys(key[:4] for key in rows))
    names = [f"{kind}, {m} x {n} x {k}" for m, n, k, kind in shapes]
    lines = ["| threads | " + " | ".join(f"{name} | over it" for name in names) + " |",
             "|---:|" + "---:|---:|" * len(names)]
    for threads in sorted({key[4] for key in rows}):
        cells = [cell(rows[(*shape, threads)]) if (*shape, threads) in rows else ["", "", ""]
                 for shape in shapes]
        lines.append(f"| {threads} | " + " | ".join(f"{own} | {ratio}" for own, _, ratio in cells) + " |")
    return lines


def merged(results):
    """The rows of several results of one machine, which are otherwise alike."""
    whole = dict(results[0])
    whole["date"] = min(result["date"] for result in results)
    whole["rows"] = [row for result in results for row in result["rows"]]
    whole["revision"] = " and ".join(dict.fromkeys(result["revision"] for result in results))
    return whole


def caption(result, paths, what, cores="one core"):
    machine = result["machine"]
    links = ", ".join(f"[{os.path.basename(path)}]({path})" for path in paths)
    peers = ", ".join(text if (text := version(said)).lower().startswith((name, "openblas", "mkl"))
                      else f"{name} {text}".strip() for name, said in result.get("peers", {}).items())
    return (f"{what}, {cores} of {machine['label']} ({result['date'][:10]}{result_age.mark(result['date'])}, "
            f"{links}, revision "
            f"{result['revision']}{'; ' + peers if peers else ''}"
            f"{'; ' + result['note'] if 'note' in result else ''}):")


# The first machine with results is shown; bench/results has the others.
MACHINES = ("nvidia-h200", "amd-zen4")
KINDS = (
    (("host-f32.json", "host-f64.json"), "GFLOP/s", products),
    (("host-avx2.json",), "GFLOP/s with everyone kept to AVX2", products),
    (("host-small.json",), "Nanoseconds a call", small),
    (("host-narrow.json",), "10^9 operations a second in narrow types", narrow),
    (("host-narrow-16.json",), "10^9 operations a second in narrow types", narrow),
)
THREADS = (1, 2, 4, 8, 12, 16)


def load(paths):
    """Returns the existing files and their contents."""
    found = [path for path in paths if os.path.exists(os.path.join(ROOT, path))]
    results = []
    for path in found:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            results.append(json.load(file))
    return found, results


def folder():
    folders = [os.path.join("bench", "results", machine) for machine in MACHINES]
    return next((path for path in folders if os.path.exists(os.path.join(ROOT, path, "host-f32.json"))),
                folders[0])


def table():
    parts = []
    for names, what, make in KINDS:
        paths, results = load([os.path.join(folder(), name) for name in names])
        if results:
            whole = merged(results)
            cores = "one core" if whole.get("threads", 1) == 1 else f"{whole['threads']} cores"
            parts.append("\n".join([caption(whole, paths, what, cores), "", *make(whole)]))
    paths, results = load([os.path.join(folder(), f"host-threads-{threads}.json") for threads in THREADS])
    if results:
        what = "GFLOP/s, and over the best peer with as many threads"
        parts.append("\n".join([caption(merged(results), paths, what, "cores"), "", *curve(results)]))
    return "\n\n".join(parts)
