"""Covariances of many samples by the same variables: one plan, and one operand packed once for all of its runs."""

import numpy
import tesela

SAMPLES, VARIABLES, BATCHES = 2000, 150, 5
rng = numpy.random.default_rng(1)

# What mixes independent variables is the same for every batch: it is packed once.
mix = rng.standard_normal((VARIABLES, VARIABLES)) / numpy.sqrt(VARIABLES)
independent = rng.standard_normal((SAMPLES, VARIABLES))
mixing = tesela.Plan(independent, mix)
packed = mixing.pack(b=mix)

# The covariance of centred columns x is x' x / (n - 1): a factor is part of a plan, and a transpose is a view.
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
print(f"{BATCHES} covariances of {VARIABLES} variables; their mean is within {error:.0%} of what the mix says")
assert error < 0.2
