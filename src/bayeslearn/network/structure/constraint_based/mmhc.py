"""Tests to find who may be joined, a score to choose among these: max-min parents and children, then hill climbing.

    association   of x with a target: what is left of it given the set S of found variables that leaves least of it, so
                  that its p-value is max_S p(x, target | S)
    forward       the variable of largest association is found next, as long as there is one (p ≤ α)
    backward      of the found, those that a set of the others separates from the target are lost again
    symmetry      x and y may be joined when each is found for the other

Of associations with the same p-value, often 0 for a float cannot hold it, that of the larger statistic is larger.

References
----------
Tsamardinos, Brown and Aliferis (2006), The max-min hill-climbing Bayesian network structure learning algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.network.structure.constraint_based.independence_tests import test_of
from bayeslearn.network.structure.score_based.hill_climbing import Structure, ranks, tabu
from bayeslearn.network.structure.search_settings import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.structure.constraint_based.independence_tests import Test
    from bayeslearn.network.structure.scoring.criteria import Parents, ScoreCache
    from bayeslearn.network.structure.search_settings import Allowed, Budget

    #: p-value and −statistic: the larger, the weaker.
    Association = tuple[float, float]

#: Sets that are tested at a time.
SETS = 64


@dataclass(frozen=True)
class Candidates:
    """Which pairs may be joined."""

    edges: NDArray[np.bool_]
    tests: int
    #: Whether a limit ended the tests; pairs that were not tested may then be joined.
    stopped: bool


@dataclass
class Target:
    """A variable whose parents and children are looked for."""

    test: Test
    rank: NDArray[np.int64]
    significance_level: float
    most_given: int
    target: int
    found: list[int] = field(default_factory=list)
    tests: int = 0

    def grow(self, others: Iterable[int]) -> None:
        """Find the variable of largest association, again and again."""
        weakest = dict.fromkeys(others, (0.0, -np.inf))
        sets = self.sets(self.found)
        while weakest := self._associated(weakest, sets):
            best = min(weakest, key=lambda x: (weakest[x], self.rank[x]))
            del weakest[best]
            sets = self.sets(self.found, best)  # those without it were tested before
            self.found = [*self.found, best]

    def shrink(self, kept: Iterable[int]) -> None:
        """Lose what a set of the others separates from the target."""
        for x in [x for x in self.found if x not in kept]:
            others = [v for v in self.found if v != x]
            if not self._associated({x: (0.0, -np.inf)}, self.sets(others)):
                self.found = others

    def sets(self, among: Sequence[int], *more: int) -> Iterator[list[Parents]]:
        """All sets of some variables, with some more in each, a few of one size at a time."""
        for size in range(min(self.most_given - len(more), len(among)) + 1):
            sets = combinations(among, size)
            while some := list(islice(sets, SETS)):
                yield [tuple(sorted((*given, *more), key=self.rank.__getitem__)) for given in some]

    def _associated(self, weakest: dict[int, Association], sets: Iterable[Sequence[Parents]]) -> dict[int, Association]:
        """What is left of associations given these sets; those that a set leaves nothing of are left out."""
        for some in sets:
            if not weakest:
                break
            answers = self._ask(list(weakest), some)
            weakest = {x: max(weakest[x], *answers[x]) for x in weakest}
            level = self.significance_level
            weakest = {x: association for x, association in weakest.items() if association[0] <= level}
        return weakest

    def _ask(self, others: Sequence[int], sets: Sequence[Parents]) -> dict[int, list[Association]]:
        pairs = [sorted((x, self.target), key=self.rank.__getitem__) for x in others]
        found = self.test(np.array([(*pair, *given) for pair in pairs for given in sets], np.int64))
        self.tests += len(found.p_value)
        associations = zip(found.p_value.tolist(), (-found.statistic).tolist(), strict=True)
        return {x: list(islice(associations, len(sets))) for x in others}


def mmpc(
    test: Test,
    allowed: Allowed,
    rank: NDArray[np.int64],
    *,
    significance_level: float = 0.05,
    most_given: int | None = None,
    budget: Budget = UNLIMITED,
) -> Candidates:
    """The pairs that are each among the parents and children of the other; required arcs are without a test."""
    possible, fixed = (arcs | arcs.T for arcs in (allowed.arcs, allowed.required))
    most = len(rank) if most_given is None else most_given

    def look(target: int) -> Target:
        kept = sorted(np.flatnonzero(fixed[target]).tolist(), key=rank.__getitem__)
        around = Target(test, rank, significance_level, most, target, kept)
        around.grow(np.flatnonzero(possible[target] & ~fixed[target]).tolist())
        around.shrink(kept)
        return around

    targets, edges, tests, stopped = np.argsort(rank).tolist(), possible.copy(), 0, False
    at_once = 2 * kernels.thread_count()
    for begin in range(0, len(targets), at_once):
        stopped = budget.over(0.0, int((edges & edges.T).sum()) // 2, tests)
        if stopped:
            break
        for around in kernels.parallel(look, targets[begin : begin + at_once]):
            edges[around.target] = False
            edges[around.target, around.found] = True
            tests += around.tests
    return Candidates(edges & edges.T, tests, stopped)


def mmhc(
    cache: ScoreCache,
    allowed: Allowed,
    *,
    significance_level: float = 0.05,
    kind: str = "g_test",
    degrees: str = "adjusted",
    most_given: int | None = None,
    budget: Budget = UNLIMITED,
) -> NDArray[np.bool_]:
    """The arcs that tabu search finds among the candidates."""
    significance_level = validation.number("significance_level", significance_level, above=0, below=1)
    if most_given is not None:
        most_given = validation.integer("most_given", most_given, min_value=0)
    test = test_of(cache.counts, kind, degrees)
    found = mmpc(
        test, allowed, ranks(cache.counts.names), significance_level=significance_level, most_given=most_given,
        budget=budget,
    )  # fmt: skip
    return tabu(Structure(cache, replace(allowed, arcs=allowed.arcs & found.edges), allowed.required), budget)
