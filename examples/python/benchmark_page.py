"""Measures two strategies on this machine and writes a page, a table, and curves if matplotlib is installed.

    benchmark_page.py [FOLDER]
"""

import pathlib
import sys
import tempfile

import tesela

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
rates = tesela.explore(sizes=[32, 64, 128], types=["float32"], devices=["cpu"],
                       strategies=["sequential", "host_packed"], seconds=0.05)
rates.save(folder / "rates.html")
rates.save(folder / "rates.csv")
for entry in rates["entries"]:
    print(f"{entry['strategy']:12} {entry['m']:4} {entry['flops_per_second'] / 1e9:7.2f} GFLOP/s")
try:
    rates.plot().figure.savefig(folder / "rates.png")
except ImportError:
    print("no curves: they need matplotlib")
print(f"wrote {', '.join(sorted(path.name for path in folder.iterdir()))} to {folder}")
