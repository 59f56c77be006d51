"""Writes the two example matrices; the results are committed, so this need not be run again.

ascent.npy   512 x 512, 8-bit grey values: the photograph "ascent", which SciPy ships (scipy.misc.ascent, or
             scipy.datasets in newer releases), from public-domain-image.com, public domain.
blur.mtx     512 x 512 banded operator: row i spreads pixel i over its neighbours with Gaussian weights
             (sigma 3 pixels, cut at 9, rows summing to 1). Made by this script; public domain.

ascent * blur is the photograph blurred along its rows.
"""
import pathlib

import numpy
import scipy.misc

HERE = pathlib.Path(__file__).parent
SIGMA, RADIUS = 3.0, 9

image = numpy.asarray(scipy.misc.ascent(), dtype=numpy.uint8)
numpy.save(HERE / "ascent.npy", image)

n = image.shape[1]
with open(HERE / "blur.mtx", "w") as file:
    file.write("%%MatrixMarket matrix coordinate real general\n")
    file.write("% Gaussian blur along rows, sigma 3 pixels, cut at 9; rows sum to 1. Public domain.\n")
    entries = []
    for i in range(n):
        columns = numpy.arange(max(0, i - RADIUS), min(n, i + RADIUS + 1))
        weights = numpy.exp(-0.5 * ((columns - i) / SIGMA) ** 2)
        weights /= weights.sum()
        entries += [(i + 1, j + 1, w) for j, w in zip(columns, weights)]
    file.write(f"{n} {n} {len(entries)}\n")
    file.writelines(f"{i} {j} {w:.6g}\n" for i, j, w in entries)
