"""Covariances of many samples of some variables, with one plan and an operand that is packed once."""

import numpy
import tesela

SAMPLES, VARIABLES, BATCHES = 2000, 150, 5
rng = numpy.random.default_rng(1)

# The matrix that mixes independent variables is equal in all batches, so it is packed once.
mix = rng.standard_normal((VARIABLES, VARIABLES)) / numpy.sqrt(VARIABLES)
independent = rng.standard_normal((SAMPLES, VARIABLES))
mixing = tesela.Plan(independent, mix)
packed = mixing.pack(b=mix)

# The covariance of centred columns x is x' x / (n - 1). The factor is part of the plan; x' is a view.
mixed = numpy.empty((SAMPLES, VARIABLES))
covariance = tesela.Plan(mixed.T, mixed, alpha=1 / (SAMPLES - 1))

total = numpy.zeros((VARIABLES, VARIABLES))
for batch in range(BATCHES):
    mixing(rng.standard_normal((SAMPLES, VARIABLES)), packed, out=mixed)
    mixed -= mixed.mean(axis=0)
    found = covariance(mixed.T, mixed)
    assert numpy.allclose(found, numpy.cov(mixed, rowvar=False))
    total += found

expected = mix.T @ mix
error = numpy.linalg.norm(total / BATCHES - expected) / numpy.linalg.norm(expected)
print(f"{covariance!r}")
print(f"{BATCHES} covariances of {VARIABLES} variables; their mean is within {error:.0%} of the expected one")
assert error < 0.2
