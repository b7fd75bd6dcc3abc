"""The distribution of a numeric column given the class, chosen by held-out evidence.

    score(distribution) = (1/n) Σ_i ln P(c_i | x_i; rows of other folds)        P(c | x) ∝ P(c) p(x | c)

Bins and densities do not compare by ln p(x), for bins have no width; the probability of the class, given the column
alone, compares them fairly. The candidates are

    gaussian, student_t, log_normal, zero_inflated       densities
    binned:mdl, binned:5, binned:10                      cut points by minimum description length, and at quantiles
    kernel_density                                       smoothed shares of fine cells

A column is read once, into at most 128 cells of about equal weight; up to 128 different values have a cell each. The
weights of the cells by fold and class add, and without a fold they are the total less its own. Every candidate is
estimated from them, as a distribution of the middles of the cells. Classes may be shares: of components, of states.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_softmax

from bayeslearn.distributions.distribution import by_name
from bayeslearn.distributions.kernel_density import smoothed
from bayeslearn.distributions.priors import PooledPrior
from bayeslearn.distributions.sufficient_statistics import Assignment, ratio
from bayeslearn.errors import BayeslearnError
from bayeslearn.tables.discretization import mdl_places
from bayeslearn.tables.intervals import separators, summarized
from bayeslearn.tables.variables import DiscreteVariable, NumericVariable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Cells of a column.
MAX_CELLS = 128

#: What is compared; where scores are equal, the first is chosen.
CANDIDATES = (
    "kernel_density", "gaussian", "log_normal", "student_t", "zero_inflated", "binned:5", "binned:10", "binned:mdl",
)  # fmt: skip

#: Steps of the estimate of a distribution that weights rows by its parameters.
STEPS = 6

#: The share of zeros from which on they may be a point mass.
FEW_ZEROS = 0.02

#: The kurtosis of a column from which on it may have heavy tails.
HEAVY_TAILS = 4.0

#: Distributions that read the rows again and again, and the score that this has to be worth.
REPEATED, MARGIN = ("student_t",), 0.002

#: The distribution where there is too little to choose by.
DEFAULT = "gaussian"


@dataclass(frozen=True)
class Choice:
    """The chosen distribution of a column, its variable, and the score of each candidate."""

    variable: DiscreteVariable | NumericVariable
    option: str
    scores: Mapping[str, float]

    @property
    def distribution(self) -> str:
        """The registered name; binned columns are categorical."""
        return "categorical" if self.option.startswith("binned") else self.option

    @property
    def score(self) -> float | None:
        """The score of the chosen distribution."""
        return self.scores.get(self.option)


def choose(
    variable: NumericVariable,
    values: Floats,
    classes: NDArray[Any],
    fold: NDArray[np.intp],
    *,
    n_classes: int,
    sample_weight: Floats | None = None,
    candidates: tuple[str, ...] = CANDIDATES,
) -> Choice:
    """Return the candidate with the highest score for a column.

    Parameters
    ----------
    variable
        The variable of the column.
    values
        Numbers; NaN is missing.
    classes
        The class of each row, below zero where it is unknown; or its share in each class, (rows, classes).
    fold
        The fold of each row.
    n_classes
        The number of classes.
    sample_weight
        The weight of each row; 1 by default.
    candidates
        The distributions that are compared.
    """
    seen = ~np.isnan(values) if classes.ndim == 2 else ~np.isnan(values) & (classes >= 0)
    weight = np.ones(len(values)) if sample_weight is None else sample_weight
    cells = Cells.of(values[seen], classes[seen], fold[seen], weight[seen], n_classes)
    if cells is None:
        return Choice(variable, DEFAULT, {})
    if len(candidates) == 1:
        return Choice(cells.variable(variable, candidates[0]), candidates[0], {})
    scores = {}
    for name in candidates:
        found = cells.log_probs(name)
        if found is not None:
            scores[name] = cells.score(found)
    best = max(scores, key=lambda name: scores[name] - MARGIN * (name in REPEATED), default=DEFAULT)
    return Choice(cells.variable(variable, best), best, scores)


@dataclass(frozen=True, eq=False)
class Cells:
    """The different values of a column, the last of them in each cell, and the weight by (fold, class, cell)."""

    values: Floats
    value_weight: Floats
    last: NDArray[np.intp]
    centers: Floats
    counts: Floats

    @classmethod
    def of(
        cls, x: Floats, classes: NDArray[Any], fold: NDArray[np.intp], weight: Floats, n_classes: int
    ) -> Cells | None:
        """The cells of a column without missing values; None where the values, folds or classes are too few."""
        values, place = np.unique(x, return_inverse=True)
        value_weight = np.bincount(place, weight, minlength=len(values)).astype(np.float64)
        if len(values) < 2 or not np.isfinite(values[[0, -1]]).all() or (value_weight > 0).sum() < 2:
            return None
        last = ends(value_weight, MAX_CELLS)
        code = np.searchsorted(last, place)
        k, size = int(fold.max()) + 1, len(last)
        shares = (classes if classes.ndim == 2 else np.eye(n_classes)[classes]) * weight[:, None]
        parts = [np.bincount(fold * size + code, share, minlength=k * size) for share in shares.T]
        counts = np.stack(parts).astype(np.float64).reshape(n_classes, k, size).transpose(1, 0, 2)
        total = counts.sum(axis=(1, 2))
        if k < 2 or (total <= 0).any() or (counts.sum(axis=(0, 2)) > 0).sum() < 2:
            return None
        span = np.bincount(code, weight, minlength=size)
        return cls(values, value_weight, last, ratio(np.bincount(code, weight * x, minlength=size), span), counts)

    @property
    def others(self) -> Floats:
        """The weight in the other folds."""
        return np.maximum(self.counts.sum(axis=0) - self.counts, 0.0)

    def score(self, log_probs: Floats) -> float:
        """The mean of ln P(class | cell) under log probabilities (fold, class, cell) of the other folds."""
        n = self.others.sum(axis=2) + 1
        joint = log_probs + np.log(n / n.sum(axis=1, keepdims=True))[:, :, None]
        there = self.counts > 0
        return float(self.counts[there] @ log_softmax(joint, axis=1)[there] / self.counts.sum())

    def log_probs(self, option: str) -> Floats | None:
        """ln p of each cell by fold and class, estimated from the other folds; None where the option does not fit."""
        name, _, kind = option.partition(":")
        if name == "binned":
            return self.binned(self.mdl if kind == "mdl" else lambda _counts: self.quantiles(int(kind)))
        if name == "kernel_density":
            return np.log(np.stack([smoothed(counts + share_of(counts)) for counts in self.others]))
        zeros = ratio(self.value_weight[self.values == 0].sum(), self.value_weight.sum())
        if name == "log_normal" and self.values[0] < 0:
            return None
        if name == "zero_inflated" and not FEW_ZEROS <= zeros < 1:
            return None
        if name == "student_t" and self.kurtosis < HEAVY_TAILS:
            return None
        return self.density(by_name(name)())

    @cached_property
    def kurtosis(self) -> float:
        """The mean fourth power of what is left of the means of the classes, in units of the squared variance."""
        counts = self.counts.sum(axis=0)
        with np.errstate(all="ignore"):
            mean = ratio(counts @ self.centers, counts.sum(axis=1))
            square = (self.centers - mean[:, None]) ** 2
            found = (counts * square**2).sum() * counts.sum() / (counts * square).sum() ** 2
        return float(np.nan_to_num(found))

    def binned(self, find: Callable[[Floats], NDArray[np.intp]]) -> Floats:
        """Bins between places that are found in the weight of the cells of each class."""
        found = np.empty(self.counts.shape)
        for f, counts in enumerate(self.others):
            places = find(counts)
            bins = np.add.reduceat(counts, [0, *(places + 1)], axis=1)
            alpha = bins + share_of(bins)
            code = np.searchsorted(places, np.arange(counts.shape[1]))
            found[f] = np.log(alpha / alpha.sum(axis=1, keepdims=True))[:, code]
        return found

    def mdl(self, counts: Floats) -> NDArray[np.intp]:
        """The cells after which minimum description length cuts."""
        return mdl_places(counts.T)

    def quantiles(self, n_bins: int) -> NDArray[np.intp]:
        """The cells after which there are cut points at quantiles."""
        return ends(self.counts.sum(axis=(0, 1)), n_bins)[:-1]

    def density(self, distribution: Any) -> Floats | None:
        """The log density at the centers of the cells."""
        k, n, size = self.counts.shape
        to = Assignment(self.others.reshape(k * n, size).T)
        try:
            with np.errstate(all="ignore"):
                found = estimated(distribution, self.centers, to)
        except BayeslearnError:  # numbers that it cannot take, or too few
            return None
        if found is None:
            return None
        return found.T.reshape(k, n, size) if np.isfinite(found).all() else None

    @property
    def middles(self) -> tuple[tuple[float, ...], ...]:
        """The median of each cell."""
        total = np.append(0.0, np.cumsum(self.value_weight)[self.last])
        middle = np.searchsorted(np.cumsum(self.value_weight), (total[:-1] + total[1:]) / 2)
        return tuple((value,) for value in self.values[np.minimum(middle, self.last)].tolist())

    def summary(self, cuts: tuple[float, ...]) -> tuple[tuple[float, ...], ...]:
        """A few values of each interval between cuts."""
        return summarized(self.values, self.value_weight, cuts, weighted=True)

    def variable(self, variable: NumericVariable, option: str) -> DiscreteVariable | NumericVariable:
        """The variable of the column with a chosen distribution."""
        name, _, kind = option.partition(":")
        if name not in {"binned", "kernel_density"}:
            return variable
        total = self.counts.sum(axis=0)
        size = total.shape[1]
        places = np.arange(size - 1)
        if name == "binned":
            places = self.mdl(total) if kind == "mdl" else self.quantiles(int(kind))
        cuts = tuple(separators(self.values, self.last[places]).tolist())
        kept = self.middles if name == "kernel_density" else self.summary(cuts)
        return DiscreteVariable.from_cuts(variable.name, cuts, kept=kept, like=variable)


def estimated(distribution: Any, cells: Floats, to: Assignment) -> Floats | None:
    """The log density of cells (cells, rows), by the estimate of each row; None where they are all alike."""
    statistics = distribution.gather(distribution.cells(cells), to)
    prior = PooledPrior().given(distribution, statistics)
    if prior is None:
        return None
    parameters = distribution.estimate(distribution.update(prior, statistics))
    for _ in range(STEPS if distribution.n_passes > 1 else 0):
        statistics = distribution.expected(cells, to, parameters)
        parameters = distribution.estimate(distribution.update(prior, statistics))
    return np.asarray(distribution.log_prob(parameters, cells))


def share_of(counts: Floats) -> Floats:
    """The share of each state in all rows together, as the pooled prior has it."""
    whole = counts.sum(axis=0)
    return np.asarray((whole + 1 / len(whole)) / (whole.sum() + 1))


def ends(weight: Floats, n: int) -> NDArray[np.intp]:
    """The last of increasing values in each of at most n cells of about equal weight; a value is in one cell."""
    if len(weight) <= n:
        return np.arange(len(weight))
    middle = np.cumsum(weight) - weight / 2
    code = np.minimum((middle / weight.sum() * n).astype(np.intp), n - 1)
    return np.flatnonzero(np.append(np.diff(code) > 0, True))
