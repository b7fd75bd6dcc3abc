"""Class indicators: the states and numeric columns that distinguish a class most from all others.

    strength = p(x | c) ln p(x | c)/p(x | not c)        for a state
             = KL(p(· | c), p(· | not c))               for a column of numbers or counts

in nats: the mean gain in log odds from the column if c is the class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import xlogy

from bayeslearn.printable import printable
from bayeslearn.tables import DiscreteVariable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel


@dataclass(frozen=True)
class ClassIndicator:
    """One state of a column, or the mean of a numeric column: its value in a class, and in all others."""

    column: str
    #: The state, or None for a column of numbers.
    state: Any
    #: The probability of the state, or the mean, in the class.
    in_class: float
    in_others: float
    strength: float

    def __str__(self) -> str:
        name = self.column if self.state is None else f"{self.column} = {self.state}"
        return printable(f"{name} ({self.in_class:.3g}, others {self.in_others:.3g})")


def class_indicators(model: NaiveBayesModel, *, max_results: int = 3) -> dict[Any, list[ClassIndicator]]:
    """Return the values that indicate each class most.

    Parameters
    ----------
    model
        A naive Bayes model.
    max_results
        The largest number of indicators of a class.

    Examples
    --------
    >>> from bayeslearn import fit_naive_bayes
    >>> days = {"sky": list("ssrr"), "play": ["yes", "yes", "no", "yes"]}
    >>> model = fit_naive_bayes(days, "play", prior="laplace")
    >>> print(class_indicators(model)["yes"][0])
    sky = s (0.6, others 0.333)
    """
    found: list[list[ClassIndicator]] = [[] for _ in model.classes]
    if len(model.classes) > 1:
        shares = np.exp(model.class_log_prior)
        for column in model.columns:
            posterior = model.posterior(column.name)
            if posterior is not None:
                for c, indicator in _column(column, posterior.mean(), shares):
                    found[c].append(indicator)
    best = [sorted(entries, key=lambda indicator: -indicator.strength)[:max_results] for entries in found]
    return {name: [t for t in entries if t.strength > 1e-9] for name, entries in zip(model.classes, best, strict=True)}


def _column(column: Any, mean: Any, shares: NDArray[np.float64]) -> list[tuple[int, ClassIndicator]]:
    others = shares * (1 - np.eye(len(shares)))
    others /= np.maximum(others.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    if isinstance(column.variable, DiscreteVariable):
        rest = others @ mean
        strength = xlogy(mean, mean) - xlogy(mean, np.maximum(rest, np.finfo(float).tiny))
        return [
            (c, ClassIndicator(column.name, state, float(mean[c, k]), float(rest[c, k]), float(strength[c, k])))
            for c in range(len(shares))
            for k, state in enumerate(column.variable.states)
        ]
    whole = column.distribution.average(mean, others)
    here, rest = (column.distribution.centers(parameters) for parameters in (mean, whole))
    strength = column.distribution.divergence(mean, whole)
    return [
        (c, ClassIndicator(column.name, None, float(here[c]), float(rest[c]), float(strength[c])))
        for c in range(len(shares))
    ]
