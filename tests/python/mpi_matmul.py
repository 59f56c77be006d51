#!/usr/bin/env python3
"""tesela.mpi.matmul() by the ranks of mpi4py's communicators: mpirun -n 3 python mpi_matmul.py.

Elements are whole numbers: results are exact. Exits with 77 if mpi4py, or an MPI for it, is missing."""
import sys

import numpy

try:
    from mpi4py import MPI
except (ImportError, RuntimeError) as why:
    print(f"skipped: mpi4py: {why}")
    sys.exit(77)
import tesela.mpi

world = MPI.COMM_WORLD
SIZES = (37, 29, 64)


def whole(seed, shape, dtype="f8"):
    return numpy.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def rows_of(comm, array, weights=lambda rank: 1):
    """This rank's rows: unevenly shared out, none on some."""
    shares = numpy.cumsum([0] + [weights(rank) for rank in range(comm.size)])
    first, last = (array.shape[0] * shares[comm.rank + i] // shares[-1] for i in (0, 1))
    return array[first:last]


def refused(kind, words, *arguments, **keywords):
    """All ranks get the same exception, and go on together."""
    try:
        tesela.mpi.matmul(*arguments, **keywords)
    except kind as why:
        assert words in str(why), why
        assert len(set(world.allgather(str(why)))) == 1
        return
    raise AssertionError(f"{words}: was taken")


def products(comm):
    m, n, k = SIZES
    for dtype in ("f8", "f4", "c16"):
        a, b = whole(1, (m, k), dtype), whole(2, (k, n), dtype)
        right = a @ b
        c, info = tesela.mpi.matmul(comm, rows_of(comm, a), rows_of(comm, b), full_output=True)
        assert c.dtype == right.dtype and numpy.array_equal(c, rows_of(comm, right)), dtype
        assert 1 <= info.ranks <= comm.size and info.plan and info.seconds > 0 and info.error_bound > 0
    a, b = whole(1, (m, k)), whole(2, (k, n))
    some = lambda rank: rank  # the first has nothing
    if comm.size > 1:
        c = tesela.mpi.matmul(comm, rows_of(comm, a, some), rows_of(comm, b))
        assert numpy.array_equal(c, rows_of(comm, a @ b, some))
    # Fortran order, every other column, negative strides.
    strange = numpy.asfortranarray(numpy.repeat(rows_of(comm, a), 2, axis=1))[:, ::2]
    c = tesela.mpi.matmul(comm, strange, rows_of(comm, b)[::-1][::-1])
    assert numpy.array_equal(c, rows_of(comm, a @ b))
    before = whole(3, (m, n))
    out = rows_of(comm, before).copy()
    assert tesela.mpi.matmul(comm, rows_of(comm, a), rows_of(comm, b), out, alpha=2, beta=-1) is out
    assert numpy.array_equal(out, rows_of(comm, 2 * (a @ b) - before))


def places(comm):
    """A and C by columns on the ranks, B whole on the last one."""
    m, n, k = SIZES
    a, b, last = whole(4, (m, k)), whole(5, (k, n)), comm.size - 1
    a_first, a_end = (k * (comm.rank + i) // comm.size for i in (0, 1))
    c_first, c_end = (n * (comm.rank + i) // comm.size for i in (0, 1))
    out = numpy.full((m, c_end - c_first), numpy.nan)
    tesela.mpi.matmul(comm, a[:, a_first:a_end], b if comm.rank == last else b[:0], out, a_at=(0, a_first),
                      b_at=(0, 0), out_at=(0, c_first))
    assert numpy.array_equal(out, (a @ b)[:, c_first:c_end])


def sums_of_nothing(comm):
    """k = 0, with places and without: C is beta C."""
    m, n, _ = SIZES
    before = whole(6, (m, n))
    first, end = (m * (comm.rank + i) // comm.size for i in (0, 1))
    a, b = numpy.zeros((end - first, 0)), numpy.zeros((0, n))
    out = before[first:end].copy()
    tesela.mpi.matmul(comm, a, b if comm.rank == 0 else b[:, :0], out, a_at=(first, 0), b_at=(0, 0),
                      out_at=(first, 0), beta=3)
    assert numpy.array_equal(out, 3 * before[first:end])
    out, info = tesela.mpi.matmul(comm, a, b, before[first:end].copy(), beta=0.3, full_output=True)
    assert numpy.all(numpy.abs(out - 0.3 * before[first:end]) <= info.error_bound * numpy.abs(out))
    assert 0 < info.error_bound < 1e-14


def faults():
    square = rows_of(world, whole(1, (8, 8)))
    refused(ValueError, "c overlaps a", world, square, square.copy(), square)
    refused(ValueError, "c overlaps b", world, square.copy(), square, square)
    a, b, last = whole(1, (6, 5)), whole(2, (5, 4)), world.size - 1
    mine = (rows_of(world, a), rows_of(world, b))
    refused(ValueError, f"rank {last}: a has 1 dimensions", world, mine[0][:, 0] if world.rank == last
            else mine[0], mine[1])
    refused(TypeError, f"rank {last}: ", world, mine[0].astype("i8") if world.rank == last else mine[0],
            mine[1])
    refused(ValueError, "inner sizes differ", world, mine[0], rows_of(world, whole(2, (7, 4))))
    refused(TypeError, "beta is complex", world, *mine, beta=1j)
    refused(ValueError, "out is not given", world, *mine, beta=1)
    refused(ValueError, "on all ranks together", world, *mine, numpy.empty((1, 3)))
    refused((ValueError, tesela.Error), "no_such", world, *mine, strategy="no_such")
    assert numpy.array_equal(tesela.mpi.matmul(world, *mine), rows_of(world, a @ b))  # all go on


products(world)
places(world)
half = world.Split(world.rank % 2, -world.rank)
products(half)
half.Free()
sums_of_nothing(world)
faults()
if world.rank == 0:
    print(f"{world.size} ranks, {MPI.Get_library_version().splitlines()[0][:40]}: right")
