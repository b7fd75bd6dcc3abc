"""The vote of all hypotheses, one drawn at random, and the most probable one, on targets drawn from the prior.

With q the posterior probability that x is positive, the chance of a mistake on x, given the data, is

    Bayes optimal    min(q, 1 − q)
    Gibbs            2 q (1 − q)  ≤  2 min(q, 1 − q)
    MAP              1 − q or q, as the most probable hypothesis says
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation
from bayeslearn.hypotheses import FiniteSpace
from bayeslearn.theory.sizes import whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bayeslearn.hypotheses.priors import PriorLike
    from bayeslearn.theory.classes import ConceptClass


@dataclass(frozen=True)
class Versus:
    """The mean error of each learner: as measured, and as expected of the same data."""

    m: int
    runs: int
    measured: Mapping[str, float]
    expected: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """The expected error of Gibbs by that of Bayes optimal; at most two, one when neither errs."""
        bayes = self.expected["Bayes optimal"]
        return self.expected["Gibbs"] / bayes if bayes else 1.0

    def __str__(self) -> str:
        head = f"{self.m} examples, {self.runs} runs: Gibbs errs {self.ratio:.3f} times as often as Bayes optimal"
        lines = [f"{name:<13}  {self.measured[name]:8.4f}  {self.expected[name]:8.4f}" for name in self.measured]
        return "\n".join([head, "learner        measured  expected", *lines])


def bayes_versus_gibbs(
    concepts: ConceptClass,
    *,
    m: int,
    runs: int = 200,
    noise: float = 0.0,
    prior: PriorLike = None,
    rng: np.random.Generator | int | None = None,
) -> Versus:
    """Draw a target from the prior and m labelled points, learn in three ways, and measure on all points; many times.

    >>> from bayeslearn.theory import standard
    >>> concepts = standard("conjunctions", 3).labellings([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    >>> found = bayes_versus_gibbs(concepts, m=4, runs=50, rng=0)
    >>> found.expected["Bayes optimal"] <= found.expected["MAP"], found.ratio <= 2
    (True, True)
    """
    m, runs = validation.integer("m", m, least=1, most=10_000_000), whole("runs", runs, least=1)
    noise = validation.number("noise", noise, least=0, below=0.5)
    labels, rng = concepts.labels, validation.generator(rng)
    names = {name: labels[i].__getitem__ for i, name in enumerate(concepts.hypotheses)}
    start = FiniteSpace.labelling(names, noise=noise).posterior(prior)
    measured, expected = np.zeros((runs, 3)), np.zeros((runs, 3))
    for run in range(runs):
        target = labels[int(start.distribution.draw(rng))]
        seen = rng.integers(0, len(concepts.points), m)
        told = target[seen] ^ (rng.random(m) < noise)
        posterior = start.weigh(_logs(labels[:, seen].T == told[:, None], noise))
        p = posterior.distribution.mean()
        q = (p @ labels).clip(0, 1)
        answers = np.array([q > 0.5, labels[int(posterior.distribution.draw(rng))], labels[int(p.argmax())]])
        measured[run] = (answers != target).mean(axis=1)
        expected[run] = [np.minimum(q, 1 - q).mean(), (2 * q * (1 - q)).mean(), _missed(q, answers[2]).mean()]
    learners = ("Bayes optimal", "Gibbs", "MAP")
    means = [dict(zip(learners, table.mean(axis=0).tolist(), strict=True)) for table in (measured, expected)]
    return Versus(m, runs, *means)


def _logs(agrees: NDArray[np.bool_], noise: float) -> NDArray[np.float64]:
    """ln P(label|h): 1 − η where the hypothesis agrees, η where it does not."""
    return np.where(agrees, math.log(1 - noise), math.log(noise) if noise else -math.inf)


def _missed(q: NDArray[np.float64], said: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.where(said, 1 - q, q)
