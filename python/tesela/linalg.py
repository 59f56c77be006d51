"""Products by the names of `numpy.linalg`, and of the array API's extension linalg."""

from ._contract import multi_dot, outer, tensordot, vecdot
from ._core import matmul

__all__ = ["matmul", "multi_dot", "outer", "tensordot", "vecdot"]
