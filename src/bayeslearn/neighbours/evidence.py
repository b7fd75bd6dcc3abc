"""What neighbours are worth as evidence: weights of cases, with which a family collects what they say.

    uniform          v = 1                   inverse-square   v = 1/d², and rows at distance 0 alone where there are any

A row that stands for c cases counts as c rows; the last of the k cases may be a part of its row. Weights are scaled to
the number of cases that they are worth (Kish), so that k equal weights are k cases and one exact match is one:

    w_i = c_i v_i · Σ c v / Σ c v²
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import DataError, ParameterError, WeightError
from bayeslearn.families import NormalInverseGamma
from bayeslearn.families.statistics import ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

WEIGHTINGS = ("uniform", "inverse-square")

#: How near two classes must be to be tied, relative to what they have.
TIED = 1e-12


def nearness(distances: Floats, weighting: str | Callable[[Floats], Any]) -> Floats:
    """v of every neighbour, by its distance."""
    if callable(weighting):
        v = validation.float_array("weighting", weighting(distances))
        if v.shape != distances.shape:
            raise ParameterError(f"a weighting gives a weight for each of {distances.shape} distances, got {v.shape}")
        return validation.not_negative("weighting", v, error=WeightError)
    validation.choice("weighting", weighting, WEIGHTINGS)
    if weighting == "uniform":
        return np.ones(distances.shape)
    nearest = distances[:, :1]
    with np.errstate(invalid="ignore"):
        relative = nearest / distances  # 1/d² up to a factor, without overflow
    return np.where(nearest == 0, distances == 0, relative**2)


def taken(cases: Floats, k: float | None) -> Floats:
    """How many cases of each neighbour are among the k nearest; all where k is None."""
    if k is None:
        return cases
    upto = np.cumsum(cases, axis=1)
    return np.minimum(upto, k) - np.minimum(upto - cases, k)


def weights(distances: Floats, cases: Floats, k: float | None, weighting: Any) -> Floats:
    """w of every neighbour."""
    v, c = nearness(distances, weighting), taken(cases, k)
    silent = (c * v).sum(axis=1) == 0
    if silent.any():
        raise DataError(
            f"no neighbour of row {validation.first_position(silent)} has any weight",
            hint="use a weighting that reaches farther, or a larger `k`",
        )
    return c * v * worth((c * v).sum(axis=1), (c * v * v).sum(axis=1))[:, None]


def worth(first: Floats, second: Floats) -> Floats:
    """Σ c v / Σ c v²."""
    return ratio(first, second)


def elected(votes: Floats, classes: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """The class with the most votes; of those that are tied, the one that the nearest row speaks for.

    `classes` are those of the neighbours, the nearest first; where none of them is tied, the first class wins.
    """
    top = votes.max(axis=1, keepdims=True)
    tied = votes >= top * (1 - TIED)
    best = np.argmax(tied, axis=1)
    unclear = np.flatnonzero(tied.sum(axis=1) > 1)
    if len(unclear):
        said = np.take_along_axis(tied[unclear], classes[unclear], axis=1)
        nearest = classes[unclear, said.argmax(axis=1)]
        best[unclear] = np.where(said.any(axis=1), nearest, best[unclear])
    return best


def interval(posterior: NormalInverseGamma, level: float) -> tuple[Floats, Floats]:
    """Bounds of one more case; where nothing varies they are the mean."""
    if (posterior.alpha <= 0).any():
        raise ParameterError("one neighbour alone has no spread", hint="give a prior of some cases, or a larger `k`")
    some = posterior.beta > 0
    low = np.array(posterior.mu)
    high = low.copy()
    parts = (posterior.mu[some], posterior.kappa[some], posterior.alpha[some], posterior.beta[some])
    if some.any():
        low[some], high[some] = NormalInverseGamma(*parts).predictive().interval(level)
    return low, high
