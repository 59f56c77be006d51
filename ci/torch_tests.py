#!/usr/bin/env python3
"""Runs PyTorch's own tests of products plain and under tesela.torch.patch(), and compares:

    torch_tests.py FOLDER [--files test_linalg.py,test_nn.py] [--tests EXPRESSION] [--patches default,always]
                   [--seconds S] [--jobs N]

FOLDER is the folder test of PyTorch's source, best of the version that is installed. EXPRESSION is
pytest's -k, such as "(addmm or Linear) and cuda". pytest and expecttest are needed. A test that passes plain
only is run again in both ways. If it differs again, it is printed and the exit status is 1. A run that lasts
longer than S seconds, or crashes, is compared up to there."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
from concurrent import futures

PRODUCTS = " or ".join((
    "mm", "mv_", "matmul", "linear", "Linear", "einsum", "tensordot", "multi_dot", "inner", "matrix_power",
    "MultiheadAttention", "multihead", "Transformer", "transformer", "LSTM", "GRU", "RNN", "cdist"))
PATCHES = {"default": {}, "always": {"always": True}}
OUTCOMES = ("passed", "failed", "skipped", "unfinished")


def pytest_configure(config):
    """Patches the process of a run, in which this file is a plugin of pytest."""
    label = os.environ.get("TESELA_TORCH_TESTS")
    if label:
        import tesela.torch
        config.tesela_patch = tesela.torch.patch(**PATCHES[label])


def write_outcome(test, outcome):
    with open(os.environ["TESELA_TORCH_OUTCOMES"], "a") as file:
        print(test.partition("::")[2], outcome, file=file)


def pytest_runtest_logstart(nodeid):
    write_outcome(nodeid, "unfinished")


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        write_outcome(report.nodeid, report.outcome)


def pytest_unconfigure(config):
    patch = getattr(config, "tesela_patch", None)
    if patch:
        rows = patch.report()
        print(f"calls by tesela {sum(row.tesela for row in rows)}, by torch {sum(row.torch for row in rows)}")


def run(options, file, label, tests):
    """Returns the outcome of each test that began, and a remark about calls or about an early end."""
    here = pathlib.Path(__file__).resolve()
    command = [sys.executable, "-m", "pytest", "-q", "-p", here.stem, "-p", "no:cacheprovider", "--tb=no",
               *tests]
    with tempfile.NamedTemporaryFile("r") as lines:
        environment = {**os.environ, "TESELA_TORCH_TESTS": label, "TESELA_TORCH_OUTCOMES": lines.name,
                       "PYTHONPATH": os.pathsep.join([str(here.parent), os.environ.get("PYTHONPATH", "")])}
        try:
            ended = subprocess.run(command, cwd=options.folder, env=environment, capture_output=True,
                                   text=True, timeout=options.seconds)
            status = ended.returncode
            remarks = [line for line in ended.stdout.splitlines() if line.startswith("calls by")]
        except subprocess.TimeoutExpired:
            status, remarks = None, [f"more than {options.seconds:g} s"]
        outcomes = {}
        for line in lines:
            test, _, outcome = line.strip().rpartition(" ")
            outcomes[f"{file}::{test}"] = min(outcome, outcomes.get(f"{file}::{test}", outcome))
    if status not in (None, 0, 1, 5):  # 1: a test failed, 5: no test
        remarks = [f"status {status}: {(ended.stdout + ended.stderr)[-2000:]}"]
        if not outcomes:
            raise SystemExit(f"{file}: {remarks[0]}")
    return outcomes, "".join(remarks)


def counted(outcomes):
    values = list(outcomes.values())
    return ", ".join(f"{values.count(kind)} {kind}" for kind in OUTCOMES)


def lost(plain, patched):
    """Returns the tests that pass plain, and begin but do not pass patched."""
    return [name for name, outcome in patched.items() if outcome != "passed" and plain.get(name) == "passed"]


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
