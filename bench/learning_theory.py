"""VC dimensions against a plain search in Python, and Weighted-Majority against a plain loop in NumPy.

The plain search grows shattered sets point by point and stops where one cell is empty, with bits of Python's own
integers: not the slowest way to write it. Random classes label a point 1 with probability q; where q is 1/2 the plain
search would take years, so classes are sparse, or random half-planes, whose dimension is known.

Advice comes in batches, each made anew from what is drawn once, so that a million rounds need no more memory than a
few thousand; the loop in NumPy does a part of the rounds and counts for all.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.learning_theory import ConceptClass
from bayeslearn.online import WeightedMajority
from bench.harness import Work

if TYPE_CHECKING:
    from collections.abc import Iterator

HYPOTHESES, POINTS = 4096, 64
EXPERTS, BATCH = 1000, 5000


def works(*, quick: bool) -> Iterator[Work]:
    yield work("random half-planes", half_planes(), goal=5)
    yield work("random class, q = 0.1", sparse(0.1), goal=50)
    if not quick:
        yield work("random class, q = 0.15", sparse(0.15), goal=50)
    yield majority(100_000 if quick else 1_000_000)


def work(name: str, labels: np.ndarray, goal: float) -> Work:
    def ours() -> int:
        return ConceptClass.from_matrix(labels).vc_dimension

    name = f"VC dimension, {HYPOTHESES:,} x {POINTS}, {name}"
    return Work(name, "plain Python", platform.python_version(), ours, lambda: plain(labels), int.__eq__, goal, most=2)


def sparse(q: float) -> np.ndarray:
    return np.random.default_rng(0).random((HYPOTHESES, POINTS)) < q


def half_planes() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(HYPOTHESES, 2)) @ rng.normal(size=(2, POINTS)) > rng.normal(size=(HYPOTHESES, 1))


def plain(labels: np.ndarray) -> int:
    rows = {tuple(row) for row in labels.tolist()}
    yes = [sum(1 << i for i, row in enumerate(rows) if row[x]) for x in range(labels.shape[1])]
    return deepest([(1 << len(rows)) - 1], yes, 0)


def deepest(cells: list[int], yes: list[int], start: int) -> int:
    """How many points can be added to a shattered set, from this point on."""
    best = 0
    for x in range(start, len(yes)):
        parts = []
        for cell in cells:
            inside = cell & yes[x]
            if not inside or inside == cell:
                break
            parts += (inside, cell ^ inside)
        else:
            best = max(best, 1 + deepest(parts, yes, x + 1))
    return best


### Weighted-Majority


def majority(rounds: int) -> Work:
    advice, truth = stream()
    few = max(rounds // 50, BATCH)

    def ours() -> list[int]:
        learner, told = WeightedMajority(EXPERTS, classes=[0, 1]), []
        for _ in range(0, rounds, BATCH):
            learner.partial_fit(advice, truth)
            told.append(learner.mistakes)
        return told[: few // BATCH]

    name = f"Weighted-Majority, {EXPERTS:,} experts x {rounds:,} rounds"
    peer = "NumPy loop", np.__version__
    return Work(
        name, *peer, ours, lambda: plain_majority(advice, truth, few), list.__eq__, 5, scale=rounds / few, most=2
    )


def stream() -> tuple[np.ndarray, np.ndarray]:
    """Experts that are right in 50 to 60 of 100 rounds."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, BATCH).astype(np.int8)
    right = rng.random((BATCH, EXPERTS)) < rng.uniform(0.5, 0.6, EXPERTS)
    return np.where(right, truth[:, None], 1 - truth[:, None]).astype(np.int8), truth


def plain_majority(advice: np.ndarray, truth: np.ndarray, rounds: int) -> list[int]:
    """Mistakes after each batch."""
    weights, mistakes, told = np.ones(EXPERTS), 0, []
    for _ in range(0, rounds, BATCH):
        for said, y in zip(advice, truth, strict=True):
            yes = weights @ said
            mistakes += int((2 * yes > weights.sum()) != y)
            weights[said != y] *= 0.5
            weights /= weights.max()
        told.append(mistakes)
    return told
