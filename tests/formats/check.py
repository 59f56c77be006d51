"""Reads the files that write_samples wrote, with NumPy and SciPy, and compares shapes, types and values.

    check.py WRITE_SAMPLES
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import scipy.io

ROWS, COLS = 5, 7
# Type codes of .npy files. NumPy has no bf16, e4m3 or e5m2.
NPY_TYPES = {
    "f64": "<f8", "f32": "<f4", "f16": "<f2", "bf16": "<f4", "i8": "|i1", "i32": "<i4", "c64": "<c8",
    "c128": "<c16", "u8": "|u1", "e4m3": "<f4", "e5m2": "<f4",
}  # fmt: skip


def expected(kind):
    i, j = np.indices((ROWS, COLS))
    whole = (7 * i + 3 * j) % 11 - 4
    if kind.startswith("i"):
        return whole
    if kind == "u8":
        return np.maximum(whole, 0)
    if kind.startswith("c"):
        return whole / 4 + 1j * (((i + 2 * j) % 5 - 2) / 2)
    return whole / 4


def read(path):
    if path.suffix == ".npy":
        return np.load(path, allow_pickle=False)
    if path.suffix == ".mtx":
        return scipy.io.mmread(path)
    if path.suffix == ".txt":
        with open(path) as file:
            shape = tuple(int(word) for word in file.readline().split())
            return np.array(file.read().split(), dtype=float).reshape(shape)
    return np.loadtxt(path, delimiter="\t" if path.suffix == ".tsv" else ",", ndmin=2)


def check(path):
    kind = path.stem.split("_")[0]
    matrix = read(path)
    assert matrix.shape == (ROWS, COLS), matrix.shape
    assert np.array_equal(matrix, expected(kind)), matrix
    if path.suffix == ".npy":
        assert matrix.dtype == np.dtype(NPY_TYPES[kind]), matrix.dtype
        assert matrix.flags.c_contiguous
        # The values begin where NumPy wants them.
        assert (path.stat().st_size - matrix.nbytes) % 64 == 0
    if path.suffix == ".mtx" and kind.startswith("i"):
        assert scipy.io.mminfo(path)[4] == "integer"


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*sys.argv[1:], folder], check=True)
        paths = sorted(pathlib.Path(folder).iterdir())
        for path in paths:
            try:
                check(path)
            except Exception as error:
                sys.exit(f"{path.name}: {error!r}")
        # 11 types in two formats and 9 real ones in three, in four layouts.
        if len(paths) != (11 * 2 + 9 * 3) * 4:
            sys.exit(f"{len(paths)} files were written")
        print(f"NumPy and SciPy read all {len(paths)} files")


if __name__ == "__main__":
    main()
