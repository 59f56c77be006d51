"""Shortest program: a product of two NumPy matrices, with its plan and its error bound."""

import numpy
import tesela

rng = numpy.random.default_rng(1)
a = rng.standard_normal((300, 200))
b = rng.standard_normal((200, 100))

c, info = tesela.matmul(a, b, full_output=True)

print(f"tesela {tesela.__version__}: {c.shape[0]} x {c.shape[1]}, {info.plan.split()[1]}")
error = numpy.abs(c - a @ b)
bound = 2 * info.error_bound * (numpy.abs(a) @ numpy.abs(b))  # NumPy's own error may be as large
assert (error <= bound).all()
print("agrees with NumPy's, within the bound of both")
