#!/usr/bin/env python3
"""Draws the picture of docs/ACCURACY.md: guaranteed and measured errors against the length of the sums.

    ci/accuracy_picture.py     draws docs/accuracy.svg from bench/results/amd-zen4/accuracy.json

Needs Matplotlib (`ci/setup.sh picture`). The command that measured the numbers:

    tesela explore --sizes 64x64x16,64x64x64,64x64x256,64x64x1024,64x64x4096,64x64x16384 \\
           --types f32,bf16:bf16,f64 --strategies host_packed,exact,sequential --device cpu --json
"""
import json
import os

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plot  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
UNIT = {"f32": 2.0**-24, "f64": 2.0**-53, "bf16": 2.0**-8}
LINES = (  # strategy, type, of C, colour, name
    ("sequential", "bf16", "bf16", "#946200", "bf16, written in bf16"),
    ("sequential", "f32", "f32", "#8a3fb5", "f32, one sum after the other"),
    ("host_packed", "f32", "f32", "#0b62c4", "f32, host_packed"),
    ("exact", "f32", "f32", "#08794f", "f32, exact"),
    ("host_packed", "f64", "f64", "#c8430a", "f64, host_packed"),
    ("exact", "f64", "f64", "#5b636d", "f64, exact"),
)

with open(os.path.join(ROOT, "bench", "results", "amd-zen4", "accuracy.json"), encoding="utf-8") as file:
    entries = json.load(file)["entries"]
plot.rcParams.update({"font.size": 9, "svg.fonttype": "none", "svg.hashsalt": "tesela"})
figure, axes = plot.subplots(figsize=(7.2, 4.6))
for strategy, kind, result, colour, name in LINES:
    points = sorted((e["k"], e["grade"] * UNIT[result], e["grade"] / e["error_ratio"] * UNIT[result])
                    for e in entries if e["strategy"] == strategy and e["type"] == kind
                    and e["result"] == "right")
    if not points:
        raise SystemExit(f"{strategy} {kind} is not in the results")
    k, seen, promised = zip(*points)
    axes.loglog(k, promised, color=colour, linestyle="--", linewidth=1)
    axes.loglog(k, seen, color=colour, marker="o", markersize=3, linewidth=1.6)
    axes.annotate(name, (k[-1], seen[-1]), xytext=(6, -3), textcoords="offset points", color=colour)
for asked in (1e-3, 1e-5):
    axes.axhline(asked, color="#9aa3ae", linewidth=0.7, linestyle=":")
    axes.annotate(f"--accuracy {asked:.0e}".replace("e-0", "e-"), (3.9e5, asked), xytext=(0, 2),
                  textcoords="offset points", color="#5b636d", ha="right")
axes.set_xlabel("k, terms of a sum")
axes.set_ylabel("error / |A||B|")
axes.set_xlim(14, 4e5)
axes.set_xticks([16, 64, 256, 1024, 4096, 16384], ["16", "64", "256", "1024", "4096", "16384"])
axes.minorticks_off()
axes.set_title("Dashed: guaranteed. Dots: the largest error seen in 64 x 64 results", loc="left", fontsize=9)
for side in ("top", "right"):
    axes.spines[side].set_visible(False)
figure.tight_layout()
figure.savefig(os.path.join(ROOT, "docs", "accuracy.svg"),
               metadata={"Date": None, "Creator": "ci/accuracy_picture.py"})
