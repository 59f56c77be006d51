#!/usr/bin/env python3
"""Draws the README's picture, docs/rates.svg: rates of tesela and other libraries against size.

    ci/rate_picture.py            draws the picture from the committed results; needs Matplotlib
                                  (Debian: python3-matplotlib, `ci/setup.sh picture`)
    ci/rate_picture.py --check    exits with 1 unless this script drew the picture from these results

The picture has a hash of its inputs, and colours for light and dark schemes.
"""
import hashlib
import io
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PICTURE = os.path.join(ROOT, "docs", "rates.svg")
RESULTS = os.path.join(ROOT, "bench", "results", "nvidia-h200")
SMALL, LARGE, LADDERS = "host-small.json", "host-f32.json", ("ladder-gemm.json", "ladder-gemm-large.json")

# Each colour is drawn as its placeholder, which occurs nowhere else, and becomes a variable of the style.
COLOURS = {  # name: placeholder, light, dark
    "card": ("#010101", "#ffffff", "#15191e"),
    "text": ("#020202", "#1c2024", "#e6e8eb"),
    "muted": ("#030303", "#5b636d", "#9aa3ae"),
    "grid": ("#040404", "#e3e6ea", "#2b3139"),
    "tesela": ("#050505", "#0b62c4", "#6cb0ff"),
    "second": ("#060606", "#08794f", "#4fd1a1"),
    "peer": ("#070707", "#c8430a", "#ff9166"),
    "other": ("#080808", "#8a3fb5", "#cf9bff"),
    "third": ("#090909", "#946200", "#e8b73e"),
}
INK = {name: colours[0] for name, colours in COLOURS.items()}


def read(name):
    with open(os.path.join(RESULTS, name), encoding="utf-8") as file:
        return json.load(file)


def inputs_hash():
    digest = hashlib.sha256()
    results = [os.path.join(RESULTS, name) for name in (SMALL, LARGE, *LADDERS)]
    for path in [os.path.abspath(__file__), *results]:
        with open(path, "rb") as file:
            digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()


def is_square(row):
    return row["m"] == row["n"] == row["k"] and row["type"] == "f32"


def one_core():
    """GFLOP/s by library and size on one core: calls of small products, then products past the caches."""
    lines = {}
    for row in filter(is_square, read(SMALL)["rows"]):
        for name, seconds in row["seconds"].items():
            if seconds:
                line = lines.setdefault({"plan": "tesela"}.get(name, name), {})
                line[row["m"]] = 2 * row["m"] ** 3 / seconds / 1e9
    for row in filter(is_square, read(LARGE)["rows"]):
        for name, rate in row["flops_per_second"].items():
            if rate:
                lines.setdefault(name, {})[row["m"]] = rate / 1e9
    return lines


def one_card():
    """TFLOP/s by device, strategy and size on the GPU: each strategy's best config."""
    lines = {}
    for entry in [entry for name in LADDERS for entry in read(name)["entries"]]:
        if is_square(entry) and entry["result"] == "right" and entry.get("flops_per_second"):
            line = lines.setdefault((entry["device"], entry["strategy"]), {})
            line[entry["m"]] = max(line.get(entry["m"], 0), entry["flops_per_second"] / 1e12)
    return lines


def draw_line(axes, line, name, ink, **style):
    sizes = sorted(line)
    return axes.plot(sizes, [line[size] for size in sizes], color=INK[ink], label=name, **style)


OWN = {"linewidth": 2.4, "marker": "o", "markersize": 4.5, "zorder": 3}
PEER = {"linewidth": 1.4, "marker": "s", "markersize": 3.5, "linestyle": (0, (4, 2))}
RUNG = {"linewidth": 1.2, "marker": "o", "markersize": 2.5}


def draw_core(axes):
    lines = one_core()
    for name, title, ink, style in (("tesela", "tesela", "tesela", OWN),
                                    ("openblas", "OpenBLAS", "peer", PEER),
                                    ("blis", "BLIS", "other", PEER),
                                    ("libxsmm", "libxsmm", "third", PEER)):
        draw_line(axes, lines[name], title, ink, **style)
    axes.set_title("one core with AVX-512, f32", loc="left")
    axes.set_ylabel("GFLOP/s")
    axes.set_ylim(0, 200)


def draw_card(axes):
    lines = one_card()
    for key, title, ink, style in ((("cuda:0", "register_tile"), "tesela, CUDA", "tesela", OWN),
                                   (("opencl:1", "register_tile"), "tesela, OpenCL", "second", OWN),
                                   (("cuda:0", "vendor_cublas"), "cuBLAS", "peer", PEER),
                                   (("opencl:1", "vendor_clblast"), "CLBlast", "other", PEER)):
        draw_line(axes, lines[key], title, ink, **style)
    for name, size, above in (("tile_local", 2048, 5), ("element", 2048, -13),
                              ("row_private", 2048, 5), ("row", 512, 5)):
        line = lines["cuda:0", name]
        draw_line(axes, line, None, "muted", **RUNG)
        axes.annotate(name, (size, line[size]), xytext=(3, above), textcoords="offset points",
                      color=INK["muted"], fontsize=8)
    axes.set_title("NVIDIA H200, f32; in grey, rungs of the ladder", loc="left")
    axes.set_ylabel("TFLOP/s")
    axes.set_yscale("log")


def finish(axes, matplotlib):
    sizes = sorted({int(x) for line in axes.lines for x in line.get_xdata()})
    axes.set_xscale("log", base=2)
    axes.set_xticks([size for size in sizes if size & (size - 1) == 0])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.minorticks_off()
    axes.set_xlabel("size n of an n x n x n product")
    axes.grid(True, color=INK["grid"], linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(loc="lower right", frameon=False, labelcolor=INK["text"])


def styled(svg):
    """Returns the picture with variables for colours, the reader's fonts, a description, and the hash."""
    rules = lambda index: " ".join(f"--{name}: {colours[index]};" for name, colours in COLOURS.items())
    for name, colours in COLOURS.items():
        svg = svg.replace(colours[0], f"var(--{name})")
    left = re.findall(r"#[0-9a-f]{6}\b", svg)
    if left:
        sys.exit(f"colours without a name: {sorted(set(left))}")
    svg = re.sub(r"'DejaVu Sans'[^;\"]*", "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif", svg)
    words = ("<title>Rates against size</title><desc>tesela, OpenBLAS, BLIS and libxsmm on one core; "
             "tesela, cuBLAS and CLBlast on an H200; docs/RESULTS.md has the numbers.</desc>")
    dark = f"@media (prefers-color-scheme: dark) {{ svg {{ {rules(2)} }} }}"
    style = f"<style>svg {{ {rules(1)} }} {dark}</style>"
    head, body = re.match(r"(.*?<svg[^>]*)>(.*)", svg, re.S).groups()
    head = re.sub(r"<!DOCTYPE.*?>\s*", "", head, flags=re.S)
    comment = f"<!-- ci/rate_picture.py, inputs {inputs_hash()} -->"
    return f"{head} role=\"img\">\n{comment}\n{words}\n{style}{body}"


def draw():
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as pyplot
    import matplotlib.ticker
    matplotlib.rcParams.update({
        "svg.fonttype": "none", "svg.hashsalt": "tesela", "font.size": 9, "axes.titlesize": 10,
        "axes.edgecolor": INK["muted"], "axes.labelcolor": INK["muted"], "xtick.color": INK["muted"],
        "ytick.color": INK["muted"], "text.color": INK["text"], "axes.facecolor": INK["card"],
        "figure.facecolor": INK["card"], "savefig.facecolor": INK["card"], "axes.titlecolor": INK["text"]})
    figure, (core, card) = pyplot.subplots(1, 2, figsize=(10.4, 4.2), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.14, h_pad=0.12)
    draw_core(core)
    draw_card(card)
    for axes in (core, card):
        finish(axes, matplotlib)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    with open(PICTURE, "w", encoding="utf-8") as file:
        file.write("\n".join(line.rstrip() for line in styled(buffer.getvalue()).split("\n")))


def main():
    if "--check" not in sys.argv[1:]:
        draw()
        return 0
    with open(PICTURE, encoding="utf-8") as file:
        return 0 if f"inputs {inputs_hash()}" in file.read(4000) else 1


if __name__ == "__main__":
    sys.exit(main())
