"""From what the trees predict to the prediction of the forest.

    classes    p(c) ∝ p̄(c)^τ
    numbers    a mixture of Student's t, one for each tree, with the mean, the variance and the degrees of freedom ν
               that are averages along the path; around the mean of the forest all distances are multiplied by τ

τ is the one of the lowest log loss on rows out of bag: 1 where the trees are sure enough, more than 1 for classes that
the average makes less sure than they are, less than 1 for numbers, whose average varies less than single trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize, special, stats

from bayeslearn import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.trees.prunings import Leaves

    Floats = NDArray[np.float64]

#: Logarithms of the temperatures that are tried.
LOG_TEMPERATURES = (-3.0, 3.0)

#: Rows whose mixtures are held at a time, and steps of the search for a bound.
ROWS, STEPS = 1 << 12, 60


### classes


def tempered(p: Floats, temperature: float) -> Floats:
    """Probabilities to the power τ, which sum to 1 again."""
    if temperature == 1.0:
        return p / p.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        return np.asarray(special.softmax(temperature * np.log(p), axis=1))


def class_temperature(p: Floats, labels: NDArray[Any], weights: Floats) -> float:
    """The τ of the lowest log loss."""
    logs = np.log(p)
    own = logs[np.arange(len(p)), labels]

    def loss(log_t: float) -> float:
        t = np.exp(log_t)
        return float(weights @ (special.logsumexp(t * logs, axis=1) - t * own))

    return lowest(loss)


def lowest(loss: Any) -> float:
    """The τ at which a loss of ln τ is lowest, ln τ ~ N(0, 1): where no row is wrong, τ stays finite."""

    def penalized(log_t: float) -> float:
        return float(loss(log_t) + log_t**2 / 2)

    found = optimize.minimize_scalar(penalized, bounds=LOG_TEMPERATURES, method="bounded", options={"xatol": 1e-3})
    return float(np.exp(found.x)) if found.fun < penalized(0.0) else 1.0


### numbers


def students(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Location, scale and ν of Student's t of mean, E y² and 1/ν (…, 3)."""
    mean, dof = values[..., 0], 1.0 / values[..., 2]
    variance = np.maximum(values[..., 1] - mean**2, 1e-12)
    return mean, np.sqrt(variance * (dof - 2.0) / dof), dof


def number_temperature(values: Floats, y: Floats, weights: Floats) -> float:
    """The factor of the highest density of numbers under Student's t with the averages over the trees."""
    mean, scale, dof = students(values)

    def loss(log_t: float) -> float:
        return float(-weights @ (stats.t.logpdf((y - mean) / (scale * np.exp(log_t)), dof) - log_t))

    return lowest(loss)


def mixtures(leaves: Leaves, codes: NDArray[np.uint8], temperature: float) -> tuple[Floats, Floats, Floats]:
    """Location, scale and ν of each tree (trees, rows)."""
    location, scale, dof = students(leaves.values[leaves.trees.leaves(codes)])
    middle = location.mean(axis=0)
    return middle + temperature * (location - middle), temperature * scale, dof


def log_density(leaves: Leaves, codes: NDArray[np.uint8], temperature: float, y: Floats) -> Floats:
    """ln p of standardized numbers."""

    def some(a: int) -> Floats:
        here = slice(a, a + ROWS)
        location, scale, dof = mixtures(leaves, np.ascontiguousarray(codes[:, here]), temperature)
        logs = stats.t.logpdf((y[here] - location) / scale, dof) - np.log(scale)
        return np.asarray(special.logsumexp(logs, axis=0) - np.log(len(logs)))

    return np.concatenate([some(a) for a in range(0, codes.shape[1], ROWS)])


def bounds(leaves: Leaves, codes: NDArray[np.uint8], temperature: float, level: float) -> tuple[Floats, Floats]:
    """Equal-tailed bounds of standardized numbers."""

    def some(a: int) -> list[Floats]:
        found = mixtures(leaves, np.ascontiguousarray(codes[:, a : a + ROWS]), temperature)
        return [quantile(*found, (1 + side * level) / 2) for side in (-1, 1)]

    parts = kernels.parallel(some, range(0, codes.shape[1], ROWS))
    low, high = (np.concatenate(side) for side in zip(*parts, strict=True))
    return low, high


def quantile(location: Floats, scale: Floats, dof: Floats, q: float) -> Floats:
    """A quantile of mixtures of Student's t (components, rows): between those of the components."""
    own = location + scale * special.stdtrit(dof, q)
    low, high = own.min(axis=0), own.max(axis=0)
    close = 1e-6 * scale.mean(axis=0)
    for _ in range(STEPS):
        middle = (low + high) / 2
        below = special.stdtr(dof, (middle - location) / scale).mean(axis=0) < q
        low, high = np.where(below, middle, low), np.where(below, high, middle)
        if (high - low <= close).all():
            break
    return np.asarray((low + high) / 2)
