"""The VC dimension of finite classes against a plain search in Python with cells of hypotheses as whole numbers.

The plain search grows shattered sets point by point and stops where one cell is empty, with bits of Python's own
integers: not the slowest way to write it. Random classes label a point 1 with probability q; where q is 1/2 the plain
search would take years, so classes are sparse, or random half-planes, whose dimension is known.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.theory import ConceptClass
from bench.harness import Work

if TYPE_CHECKING:
    from collections.abc import Iterator

HYPOTHESES, POINTS = 4096, 64


def works(*, quick: bool) -> Iterator[Work]:
    yield work("random half-planes", half_planes(), goal=5)
    yield work("random class, q = 0.1", sparse(0.1), goal=50)
    if not quick:
        yield work("random class, q = 0.15", sparse(0.15), goal=50)


def work(name: str, labels: np.ndarray, goal: float) -> Work:
    def ours() -> int:
        return ConceptClass.of(labels).vc_dimension

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
