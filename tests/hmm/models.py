"""Random models and data with holes, of every kind of emissions."""

from __future__ import annotations

import numpy as np

from bayeslearn.hmm import (
    CategoricalEmissions,
    FullGaussianEmissions,
    GaussianEmissions,
    HiddenMarkovModel,
    MixtureEmissions,
    PoissonEmissions,
)
from bayeslearn.tables import DiscreteVariable

KINDS = ["categorical", "gaussian", "full", "poisson", "mixture"]
SYMBOLS = ("a", "b", "c")


def emissions(kind, n, rng):
    if kind == "categorical":
        return CategoricalEmissions(DiscreteVariable("symbol", SYMBOLS), rng.dirichlet(np.ones(3), n))
    if kind == "poisson":
        return PoissonEmissions("count", rng.uniform(0.5, 9, n))
    if kind == "mixture":
        return MixtureEmissions(rng.dirichlet(np.ones(2), n), emissions("gaussian", 2 * n, rng))
    mean = rng.normal(0, 2, (n, 2))
    if kind == "gaussian":
        return GaussianEmissions(("x", "y"), mean, rng.uniform(0.3, 3, (n, 2)))
    root = rng.normal(0, 1, (n, 2, 2))
    return FullGaussianEmissions(("x", "y"), mean, root @ np.swapaxes(root, 1, 2) + 0.3 * np.eye(2))


def model(kind, n, rng, zeros=None):
    start, moves = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n), n)
    if zeros:
        moves = np.triu(moves)
        moves /= moves.sum(axis=1, keepdims=True)
    return HiddenMarkovModel(tuple(f"s{i}" for i in range(n)), start, moves, emissions(kind, n, rng))


def with_holes(x, rng, share=0.2):
    """A share of the cells missing: single coordinates of rows of numbers, None for symbols."""
    if x.dtype.kind in "OU":
        return np.where(rng.random(len(x)) < share, None, x.astype(object))
    x = x.astype(float)
    x[rng.random(x.shape) < share] = np.nan
    return x
