"""What a measured error says of the true one: r wrong of n, at a level 1 − δ.

Hoeffding     r/n ± √(ln(2/δ) / 2n)                      whatever the error is, so wider than it needs be
exact         the p for which r wrong is not too odd      Clopper and Pearson: tails of the binomial of δ/2 each
Bayes         p ~ Beta(a + r, b + n − r)                  the middle 1 − δ of what is believed
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from scipy.special import betaincinv

from bayeslearn import validation
from bayeslearn.distributions.bernoulli import Beta
from bayeslearn.errors import ParameterError
from bayeslearn.learning_theory.hypothesis_counts import whole
from bayeslearn.learning_theory.pac_bounds import probability, shown

Interval = tuple[float, float]

PRIORS = {"uniform": Beta.uniform, "jeffreys": Beta.jeffreys}


@dataclass(frozen=True)
class ErrorIntervals:
    """Three intervals of the true error, side by side."""

    n_wrong: int
    n_examples: int
    level: float
    hoeffding: Interval
    exact: Interval
    bayes: Interval

    @property
    def error(self) -> float:
        """The error that was measured."""
        return self.n_wrong / self.n_examples

    def __str__(self) -> str:
        rows = [f"  {name:<9}  {low:.4f} to {high:.4f}  {self.formulas[name]}" for name, (low, high) in self.by_name()]
        counts = f"{self.n_wrong:,} of {self.n_examples:,} wrong: error {shown(self.error)}"
        head = f"{counts}; at {self.level:.4g} the true error is"
        return "\n".join([head, *rows])

    def by_name(self) -> list[tuple[str, Interval]]:
        """The intervals with their names."""
        return [("Hoeffding", self.hoeffding), ("exact", self.exact), ("Bayes", self.bayes)]

    @property
    def formulas(self) -> dict[str, str]:
        """How each comes about, with its numbers."""
        wrong, n = self.n_wrong, self.n_examples
        half = math.sqrt(math.log(2 / (1 - self.level)) / (2 * n))
        tail = shown((1 - self.level) / 2)
        return {
            "Hoeffding": f"{shown(self.error)} ± √(ln(2/{shown(1 - self.level)}) / (2·{n})) = ± {shown(half)}",
            "exact": f"Binomial({n}, p) has {wrong} wrong or further off with probability {tail} at each end",
            "Bayes": f"Beta(a + {wrong}, b + {n - wrong})",
        }

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        found = {name.lower(): {"low": low, "high": high} for name, (low, high) in self.by_name()}
        return {"wrong": self.n_wrong, "n": self.n_examples, "level": self.level, "error": self.error, **found}


def error_intervals(
    n_wrong: int, n_examples: int, *, level: float = 0.95, prior: Beta | str = "uniform"
) -> ErrorIntervals:
    """The true error of a hypothesis that was wrong on so many of n fresh examples.

    The examples must not have been learned from. `prior` is "uniform", "jeffreys" or a Beta of the true error.

    >>> found = error_intervals(12, 40)
    >>> [tuple(round(x, 3) for x in interval) for _, interval in found.by_name()]
    [(0.085, 0.515), (0.166, 0.465), (0.181, 0.455)]
    """
    wrong, level = whole("n_wrong", n_wrong), probability("level", level)
    n = validation.integer("n_examples", n_examples, min_value=1, max_value=10**12)
    if wrong > n:
        raise ParameterError(f"{wrong} of {n} examples cannot be wrong")
    tail, half = (1 - level) / 2, math.sqrt(math.log(2 / (1 - level)) / (2 * n))
    low = float(betaincinv(wrong, n - wrong + 1, tail)) if wrong else 0.0
    high = float(betaincinv(wrong + 1, n - wrong, 1 - tail)) if wrong < n else 1.0
    belief = _prior(prior)
    bottom, top = Beta(belief.a + wrong, belief.b + n - wrong).interval(level)
    hoeffding = (max(wrong / n - half, 0.0), min(wrong / n + half, 1.0))
    return ErrorIntervals(wrong, n, level, hoeffding, (low, high), (float(bottom), float(top)))


def _prior(prior: Beta | str) -> Beta:
    if isinstance(prior, str):
        if prior not in PRIORS:
            raise ParameterError(f"unexpected prior {prior!r}", hint=f"use {' or '.join(PRIORS)}, or a Beta")
        return PRIORS[prior]()
    if not (isinstance(prior, Beta) and prior.a.shape == () and prior.a > 0 and prior.b > 0):
        raise ParameterError(f"`prior` must be one Beta with a and b above 0, got {prior!r:.80}")
    return prior
