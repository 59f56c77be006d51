#!/usr/bin/env python3
"""Runs PyTorch's own tests of products plain and under tesela.torch.patch(), and compares:

    torch_tests.py FOLDER [--files test_linalg.py,test_nn.py] [--tests EXPRESSION] [--patches default,always]
                   [--seconds S] [--jobs N]

FOLDER is the folder test of PyTorch's source, best of the version that is installed. EXPRESSION is
pytest's -k, such as "(addmm or Linear) and cuda". pytest and expecttest are needed. A test that passes plain
only is run again in both ways. If it differs again, it is printed and the exit status is 1."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
from concurrent import futures
from xml.etree import ElementTree

PRODUCTS = " or ".join((
    "mm", "mv_", "matmul", "linear", "Linear", "einsum", "tensordot", "multi_dot", "inner", "matrix_power",
    "MultiheadAttention", "multihead", "Transformer", "transformer", "LSTM", "GRU", "RNN", "cdist"))
PATCHES = {"default": {}, "always": {"always": True}}


def pytest_configure(config):
    """Patches the process of a run, in which this file is a plugin of pytest."""
    label = os.environ.get("TESELA_TORCH_TESTS")
    if label:
        import tesela.torch
        config.tesela_patch = tesela.torch.patch(**PATCHES[label])


def pytest_unconfigure(config):
    patch = getattr(config, "tesela_patch", None)
    if patch:
        rows = patch.report()
        print(f"calls by tesela {sum(row.tesela for row in rows)}, by torch {sum(row.torch for row in rows)}")


def run(options, file, label, tests):
    """Returns the outcome of each test ("passed", "failed", "skipped"), and the line about calls."""
    here = pathlib.Path(__file__).resolve()
    environment = {**os.environ, "TESELA_TORCH_TESTS": label,
                   "PYTHONPATH": os.pathsep.join([str(here.parent), os.environ.get("PYTHONPATH", "")])}
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", here.stem, "-p", "no:cacheprovider", "--tb=no",
                   f"--junit-xml={report}", *tests]
        try:
            ended = subprocess.run(command, cwd=options.folder, env=environment, capture_output=True,
                                   text=True, timeout=options.seconds)
            last = [line for line in ended.stdout.splitlines() if line.startswith("calls by")]
        except subprocess.TimeoutExpired:
            raise SystemExit(f"{file}: more than {options.seconds} s") from None
        if not report.exists():
            raise SystemExit(f"{file}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}")
        outcomes = {}
        for case in ElementTree.parse(report).iter("testcase"):
            tags = {"failure": "failed", "error": "failed", "skipped": "skipped"}
            outcome = min((tags[child.tag] for child in case if child.tag in tags), default="passed")
            outcomes[f"{file}::{case.get('classname').rpartition('.')[2]}::{case.get('name')}"] = outcome
    return outcomes, " ".join(last)


def counted(outcomes):
    values = list(outcomes.values())
    return ", ".join(f"{values.count(kind)} {kind}" for kind in ("passed", "failed", "skipped"))


def lost(plain, patched):
    """Returns the tests that pass plain and fail patched."""
    return [name for name, outcome in plain.items() if outcome == "passed" and patched.get(name) != "passed"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--files", default="test_linalg.py,test_nn.py")
    parser.add_argument("--tests", default=PRODUCTS)
    parser.add_argument("--patches", default=",".join(PATCHES))
    parser.add_argument("--seconds", type=float, default=3600, help="time for a run of a file")
    parser.add_argument("--jobs", type=int, default=1, help="number of runs at the same time")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    worse = 0
    files, labels = options.files.split(","), ["", *options.patches.split(",")]
    with futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {(file, label): pool.submit(run, options, file, label, [file, "-k", options.tests])
                for file in files for label in labels}
        for (file, label), future in runs.items():
            outcomes, calls = future.result()
            print(f"{file} {label or 'plain'}: {counted(outcomes)}{'; ' * bool(calls)}{calls}", flush=True)
            plain = outcomes if label == "" else plain
            names = lost(plain, outcomes)
            if names:
                names = lost(*(run(options, file, each, names)[0] for each in ("", label)))
            for name in names:
                print(f"  passes plain only: {name}", flush=True)
                worse += 1
    raise SystemExit(worse > 0)


if __name__ == "__main__":
    main()
