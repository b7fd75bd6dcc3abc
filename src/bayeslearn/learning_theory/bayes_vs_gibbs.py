"""Bayes optimal, Gibbs and MAP classification compared on random targets.

With q the posterior probability that x is positive, the probability of a mistake on x, given the data, is

    Bayes optimal    min(q, 1 − q)
    Gibbs            2 q (1 − q)  ≤  2 min(q, 1 − q)
    MAP              1 − q or q, as the most probable hypothesis predicts
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports, validation
from bayeslearn.hypotheses import FiniteSpace
from bayeslearn.learning_theory.hypothesis_counts import whole
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bayeslearn.hypotheses.priors import PriorLike
    from bayeslearn.learning_theory.concept_class import ConceptClass
    from bayeslearn.tables.frames import Backend

plots: Any = lazy_imports.Deferred("bayeslearn.plots")


@dataclass(frozen=True, repr=False)
class BayesGibbsComparison(Reported):
    """The mean error of Bayes optimal, Gibbs and MAP classification: measured, and expected given the same data."""

    n_examples: int
    n_runs: int
    measured: Mapping[str, float]
    expected: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """The expected error of Gibbs by that of Bayes optimal; at most two, one if both are zero."""
        bayes = self.expected["Bayes optimal"]
        return self.expected["Gibbs"] / bayes if bayes else 1.0

    def report(self) -> Report:
        """Return both errors of each learner."""
        title = (
            f"{self.n_examples:,} examples, {self.n_runs:,} runs: error ratio Gibbs to Bayes optimal {self.ratio:.3f}"
        )
        return Report(title, Grid(["Learner", "Measured", "Expected"], self._rows()))

    def to_dict(self) -> dict[str, Any]:
        """Return both errors of each learner as plain values."""
        return {
            "n_examples": self.n_examples, "n_runs": self.n_runs, "ratio": self.ratio,
            "measured": dict(self.measured), "expected": dict(self.expected),
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each learner."""
        return frame_of_rows(["learner", "measured", "expected"], self._rows(), backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the errors (:func:`bayeslearn.plots.plot_bayes_gibbs`)."""
        return plots.plot_bayes_gibbs(self, ax=ax)

    def _rows(self) -> list[tuple[str, float, float]]:
        return [(name, self.measured[name], self.expected[name]) for name in self.measured]


def compare_bayes_gibbs(
    concepts: ConceptClass,
    *,
    n_examples: int,
    n_runs: int = 200,
    noise: float = 0.0,
    prior: PriorLike = "uniform",
    random_state: np.random.Generator | int | None = None,
) -> BayesGibbsComparison:
    """Compare Bayes optimal, Gibbs and MAP classification on random targets and samples of m labeled points.

    >>> from bayeslearn.learning_theory import standard_class
    >>> cube = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    >>> concepts = standard_class("conjunctions", 3).labelings(cube)
    >>> found = compare_bayes_gibbs(concepts, n_examples=4, n_runs=50, random_state=0)
    >>> found.expected["Bayes optimal"] <= found.expected["MAP"], found.ratio <= 2
    (True, True)
    """
    m = validation.integer("n_examples", n_examples, min_value=1, max_value=10_000_000)
    runs = whole("n_runs", n_runs, least=1)
    noise = validation.number("noise", noise, min_value=0, below=0.5)
    labels, rng = concepts.labels, validation.generator(random_state)
    names = {name: labels[i].__getitem__ for i, name in enumerate(concepts.hypotheses)}
    start = FiniteSpace.from_labelers(names, noise=noise).posterior(prior)
    measured, expected = np.zeros((runs, 3)), np.zeros((runs, 3))
    for run in range(runs):
        target = labels[int(start.distribution.draw(rng))]
        seen = rng.integers(0, len(concepts.points), m)
        observed = target[seen] ^ (rng.random(m) < noise)
        posterior = start.update_likelihoods(_logs(labels[:, seen].T == observed[:, None], noise))
        p = posterior.distribution.mean()
        q = (p @ labels).clip(0, 1)
        answers = np.array([q > 0.5, labels[int(posterior.distribution.draw(rng))], labels[int(p.argmax())]])
        measured[run] = (answers != target).mean(axis=1)
        expected[run] = [np.minimum(q, 1 - q).mean(), (2 * q * (1 - q)).mean(), _missed(q, answers[2]).mean()]
    learners = ("Bayes optimal", "Gibbs", "MAP")
    means = [dict(zip(learners, table.mean(axis=0).tolist(), strict=True)) for table in (measured, expected)]
    return BayesGibbsComparison(m, runs, *means)


def _logs(agrees: NDArray[np.bool_], noise: float) -> NDArray[np.float64]:
    """ln P(label|h): ln(1 − η) if the hypothesis agrees, else ln η."""
    return np.where(agrees, math.log(1 - noise), math.log(noise) if noise else -math.inf)


def _missed(q: NDArray[np.float64], predicted: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.where(predicted, 1 - q, q)
