"""When every hypothesis that is left is good: the ε-exhausted version space, measured against its bound.

not exhausted      some h of true error ≥ ε agrees with all m examples
bound              P(not exhausted) ≤ |H| e^(−εm)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, ShapeError
from bayeslearn.theory.bound import probability
from bayeslearn.theory.sizes import whole

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.theory.classes import ConceptClass


@dataclass(frozen=True, eq=False)
class Exhaustion:
    """For each number of examples: the share of runs whose version space was not ε-exhausted, and the bound."""

    epsilon: float
    runs: int
    #: Hypotheses of true error ε or more.
    bad: int
    m: NDArray[np.int64]
    measured: NDArray[np.float64]
    bounds: NDArray[np.float64]

    def __str__(self) -> str:
        rows = zip(self.m.tolist(), self.measured.tolist(), self.bounds.tolist(), strict=True)
        lines = [f"{m:>8}  {share:8.4f}  {bound:6.4f}" for m, share, bound in rows]
        head = f"version space not {self.epsilon:g}-exhausted, {self.runs} runs"
        return "\n".join([head, "examples  measured   bound", *lines])


def exhaustion(
    concepts: ConceptClass,
    target: Hashable,
    *,
    epsilon: float = 0.1,
    m: Sequence[int] = (10, 20, 50, 100),
    runs: int = 1000,
    distribution: ArrayLike | None = None,
    rng: np.random.Generator | int | None = None,
) -> Exhaustion:
    """Draw m examples of a target many times, and see whether a bad hypothesis agrees with all of them.

    `distribution` holds the probability of each point; all are alike when not given.
    """
    epsilon, runs = probability("epsilon", epsilon), whole("runs", runs, least=1)
    p = _distribution(distribution, len(concepts.points))
    wrong = concepts.labels != concepts.labels[_place(concepts, target)]
    bad = wrong[wrong @ p >= epsilon]
    rng = validation.generator(rng)
    sizes = np.array(sorted({validation.integer("m", count, least=1, most=10**15) for count in m}), dtype=np.int64)
    if not len(sizes):
        raise ParameterError("no number of examples was given in `m`")
    measured = np.array([_share(bad, p, count, runs, rng) for count in sizes.tolist()])
    bounds = np.exp(np.minimum(concepts.size.log - epsilon * sizes, 0))
    return Exhaustion(epsilon, runs, len(bad), sizes, measured, bounds)


def _share(bad: NDArray[Any], p: NDArray[np.float64], m: int, runs: int, rng: np.random.Generator) -> float:
    """The share of runs in which no example shows up one of the bad hypotheses."""
    seen = rng.multinomial(m, p, size=runs) > 0
    agrees = ~(seen.astype(np.float32) @ bad.T.astype(np.float32) > 0)
    return float(agrees.any(axis=1).mean())


def _place(concepts: ConceptClass, target: Hashable) -> int:
    if target not in concepts.hypotheses:
        raise ParameterError(f"no hypothesis is called {target!r}")
    return concepts.hypotheses.index(target)


def _distribution(given: ArrayLike | None, n: int) -> NDArray[np.float64]:
    if given is None:
        return np.full(n, 1 / n)
    p = validation.probabilities(given, name="distribution")
    if p.shape != (n,):
        raise ShapeError(f"expected the probabilities of {n} points, got shape {p.shape}")
    return p
