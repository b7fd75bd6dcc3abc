"""Intervals of the true error from a measured error: r wrong of n, at a level 1 − δ.

Hoeffding     r/n ± √(ln(2/δ) / 2n)                      for any error, so wider than necessary
exact         Clopper and Pearson: tails of the binomial of δ/2 each
Bayes         p ~ Beta(a + r, b + n − r)                  the central 1 − δ of the posterior
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scipy.special import betaincinv

from bayeslearn import lazy_imports, validation
from bayeslearn.distributions.bernoulli import Beta
from bayeslearn.errors import ParameterError
from bayeslearn.learning_theory.hypothesis_counts import whole
from bayeslearn.learning_theory.pac_bounds import probability, shown
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    from bayeslearn.tables.frames import Backend

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

Interval = tuple[float, float]

PRIORS = {"uniform": Beta.uniform, "jeffreys": Beta.jeffreys}


@dataclass(frozen=True, repr=False)
class ErrorIntervals(Reported):
    """Three intervals of the true error: Hoeffding, exact, and Bayesian."""

    n_wrong: int
    n_examples: int
    level: float
    hoeffding: Interval
    exact: Interval
    bayes: Interval

    @property
    def error(self) -> float:
        """The measured error."""
        return self.n_wrong / self.n_examples

    def report(self) -> Report:
        """Return the measured error and the intervals."""
        title = f"{self.n_wrong:,} of {self.n_examples:,} wrong: error {shown(self.error)}"
        rows = [(name, low, high, self.formulas[name]) for name, (low, high) in self.by_name()]
        head = ["Interval", "Low", "High", "Formula"]
        return Report(title, Grid(head, rows, f"True error, {100 * self.level:g} % intervals"))

    def by_name(self) -> list[tuple[str, Interval]]:
        """The intervals with their names."""
        return [("Hoeffding", self.hoeffding), ("exact", self.exact), ("Bayes", self.bayes)]

    @property
    def formulas(self) -> dict[str, str]:
        """The formula of each interval with its numbers."""
        wrong, n = self.n_wrong, self.n_examples
        half = math.sqrt(math.log(2 / (1 - self.level)) / (2 * n))
        tail = shown((1 - self.level) / 2)
        return {
            "Hoeffding": f"{shown(self.error)} ± √(ln(2/{shown(1 - self.level)}) / (2·{n})) = ± {shown(half)}",
            "exact": f"Binomial({n}, p) has {wrong} wrong or more extreme with probability {tail} at each end",
            "Bayes": f"Beta(a + {wrong}, b + {n - wrong})",
        }

    def to_dict(self) -> dict[str, Any]:
        """Return counts, error and intervals as plain values."""
        found = {name.lower(): {"low": low, "high": high} for name, (low, high) in self.by_name()}
        counts = {"n_wrong": self.n_wrong, "n_examples": self.n_examples}
        return {**counts, "level": self.level, "error": self.error, **found}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each interval."""
        rows = ((name, low, high) for name, (low, high) in self.by_name())
        return frame_of_rows(["interval", "low", "high"], rows, backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the intervals (:func:`bayeslearn.plots.plot_error_intervals`)."""
        return plots.plot_error_intervals(self, ax=ax)


def error_intervals(
    n_wrong: int, n_examples: int, *, level: float = 0.95, prior: Beta | str = "uniform"
) -> ErrorIntervals:
    """Return intervals of the true error of a hypothesis that is wrong on `n_wrong` of n test examples.

    Parameters
    ----------
    n_wrong, n_examples
        The number of errors, and of test examples, which were not used for training.
    level
        The confidence or credible level, 0.95 by default.
    prior
        The prior of the true error of the Bayesian interval: ``"uniform"`` (default), ``"jeffreys"`` or a Beta.

    Examples
    --------
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
