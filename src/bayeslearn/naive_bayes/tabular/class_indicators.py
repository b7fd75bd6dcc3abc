"""What speaks most for each class, over all rows: the states and the numbers by which it is known.

    strength = p(x | c) ln p(x | c)/p(x | not c)        for a state
             = KL(p(· | c), p(· | not c))               for a column of numbers or counts

in nats: what a look at the column gains, on average, when c is the class.
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
class Tell:
    """One state of a column, or the mean of its numbers: how it is in a class, and how in all others."""

    column: str
    #: The state, or None for a column of numbers.
    state: Any
    #: The probability of the state, or the mean, in the class.
    here: float
    elsewhere: float
    strength: float

    def __str__(self) -> str:
        name = self.column if self.state is None else f"{self.column} = {self.state}"
        return printable(f"{name} ({self.here:.3g} against {self.elsewhere:.3g})")


def class_indicators(model: NaiveBayesModel, most: int = 3) -> dict[Any, list[Tell]]:
    """The strongest tells of each class.

    >>> from bayeslearn import NaiveBayesModel
    >>> days = {"sky": list("ssrr"), "play": ["yes", "yes", "no", "yes"]}
    >>> model = NaiveBayesModel.learn(days, "play", prior="laplace")
    >>> print(class_indicators(model)["yes"][0])
    sky = s (0.6 against 0.333)
    """
    found: list[list[Tell]] = [[] for _ in model.classes]
    if len(model.classes) > 1:
        shares = np.exp(model.log_shares)
        for column in model.columns:
            posterior = model.posterior(column.name)
            if posterior is not None:
                for c, tell in _column(column, posterior.mean(), shares):
                    found[c].append(tell)
    best = [sorted(entries, key=lambda tell: -tell.strength)[:most] for entries in found]
    return {name: [t for t in entries if t.strength > 1e-9] for name, entries in zip(model.classes, best, strict=True)}


def _column(column: Any, mean: Any, shares: NDArray[np.float64]) -> list[tuple[int, Tell]]:
    others = shares * (1 - np.eye(len(shares)))
    others /= np.maximum(others.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    if isinstance(column.variable, DiscreteVariable):
        rest = others @ mean
        strength = xlogy(mean, mean) - xlogy(mean, np.maximum(rest, np.finfo(float).tiny))
        return [
            (c, Tell(column.name, state, float(mean[c, k]), float(rest[c, k]), float(strength[c, k])))
            for c in range(len(shares))
            for k, state in enumerate(column.variable.states)
        ]
    whole = column.distribution.average(mean, others)
    here, rest = (column.distribution.centers(parameters) for parameters in (mean, whole))
    strength = column.distribution.divergence(mean, whole)
    return [
        (c, Tell(column.name, None, float(here[c]), float(rest[c]), float(strength[c]))) for c in range(len(shares))
    ]
