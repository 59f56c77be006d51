"""NumPy with the drop-in before its BLAS, limited by threadpoolctl, or by the controller of examples/.

  limits.py follow    threadpoolctl limits NumPy's own BLAS: the drop-in's threads follow
  limits.py control   threadpoolctl recognizes the drop-in

Prints the drop-in's threads before, inside and after a limit of 1. Exits with 77 where that cannot be tried.
"""

import ctypes
import os
import sys


def give_up(why):
    print(f"skipped: {why}")
    sys.exit(77)


try:
    import numpy
except ImportError:
    give_up("needs NumPy (Debian: python3-numpy)")
try:
    import threadpoolctl
except ImportError:
    give_up("needs threadpoolctl (Debian: python3-threadpoolctl)")

ours = ctypes.CDLL("libtesela_blas.so.2", mode=os.RTLD_NOLOAD | os.RTLD_NOW)
matrix = numpy.ones((500, 500))


def threads():
    """As a call finds them; the first one looks for the other library."""
    assert (matrix @ matrix == 500).all()
    return ours.tesela_get_num_threads()


if sys.argv[1] == "control":
    if not hasattr(threadpoolctl, "register"):
        give_up(f"threadpoolctl {threadpoolctl.__version__} takes no other libraries: 3.3 does")
    import tesela_threadpoolctl  # noqa: F401

    listed = [one for one in threadpoolctl.threadpool_info() if one["internal_api"] == "tesela"]
    assert len(listed) == 1, threadpoolctl.threadpool_info()
    assert listed[0]["num_threads"] == threads(), listed
elif not any(one["internal_api"] in ("openblas", "mkl") for one in threadpoolctl.threadpool_info()):
    give_up("NumPy's BLAS is none that threadpoolctl knows")

before = threads()
with threadpoolctl.threadpool_limits(1, user_api="blas"):
    inside = threads()
after = threads()
print(f"threads: {before} before, {inside} limited to 1, {after} after")
if before < 2:
    give_up("there is one processor")
assert inside == 1, inside
assert after == before, after
