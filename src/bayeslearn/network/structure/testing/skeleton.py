"""The pairs that no set of variables separates, found by tests of independence as in the stable form of PC.

    all pairs are joined; for k = 0, 1, … the edge x — y goes when x and y are independent given some k of the
    neighbours of x, or of y, that were there when k began

A set separates when the p-value of its test is above alpha. The first by names that does is recorded. Afterwards all
sets of its size among the neighbours that are left, and itself, vote on the v-structures between the two variables.

References
----------
Spirtes, Glymour and Scheines (2000), PC. Colombo and Maathuis (2014), its stable form.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.network.structure.limits import FOREVER
from bayeslearn.network.structure.testing.independence import on_all_cores

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.cache import Parents
    from bayeslearn.network.structure.knowledge import Allowed
    from bayeslearn.network.structure.limits import Limits
    from bayeslearn.network.structure.testing.independence import Test
    from bayeslearn.network.structure.testing.orientation import Vote

    Pair = tuple[int, int]

#: Tests between two looks at the clock.
BATCH = 4096

#: p-value of a pair that no test was made of.
UNTESTED = -1.0


@dataclass
class Skeleton:
    """Which pairs stay joined, and why."""

    test: Test
    rank: NDArray[np.int64]
    alpha: float
    edges: NDArray[np.bool_]
    #: Of an edge that stayed the largest that it survived, of another that of the set that separates.
    p_values: NDArray[np.float64]
    separating: dict[Pair, Parents] = field(default_factory=dict)
    tests: int = 0
    stopped: bool = False

    def near(self) -> list[list[int]]:
        """The neighbours of each variable by name."""
        return [sorted(np.flatnonzero(row).tolist(), key=self.rank.__getitem__) for row in self.edges]

    def pairs(self, which: NDArray[np.bool_]) -> list[Pair]:
        """Pairs once each: both the pairs and the two of a pair by name."""
        order = np.argsort(self.rank)
        found = np.argwhere(np.triu(which[np.ix_(order, order)], 1))
        return [tuple(pair) for pair in order[found].tolist()]

    def ask(
        self, asked: Mapping[Pair, Sequence[Parents]], *, untestable: float | None = None
    ) -> dict[Pair, list[float]]:
        """The p-values of all sets of every pair, all of one size; another for those that leave nothing to test."""
        rows = [(*pair, *given) for pair, sets in asked.items() for given in sets]
        if not rows:
            return {pair: [] for pair in asked}
        self.tests += len(rows)
        found = on_all_cores(self.test, np.array(rows, np.int64))
        p = found.p_value if untestable is None else np.where(found.degrees > 0, found.p_value, untestable)
        p_values = iter(p.tolist())
        return {pair: list(islice(p_values, len(sets))) for pair, sets in asked.items()}

    def level(self, size: int, fixed: NDArray[np.bool_], limits: Limits) -> bool:
        """Take away edges by sets of one size; whether there were any such sets."""
        near = self.near()
        pairs = [(x, y) for x, y in self.pairs(self.edges & ~fixed) if max(len(near[x]), len(near[y])) > size]
        for begin in range(0, len(pairs), BATCH):
            self._separate({pair: sets_of(near, pair, size) for pair in pairs[begin : begin + BATCH]}, limits)
        return bool(pairs)

    def _separate(self, waiting: dict[Pair, Iterator[Parents]], limits: Limits) -> None:
        """A few sets of every pair at a time, then more, until it is separated or has no more."""
        width = 1
        while waiting and not self.stopped:
            asked = {pair: found for pair, sets in waiting.items() if (found := list(islice(sets, width)))}
            answers = self.ask(asked)
            waiting = {pair: waiting[pair] for pair, p in answers.items() if not self._settle(pair, asked[pair], p)}
            width = min(4 * width, max(1, BATCH // max(len(waiting), 1)))
            self.stopped = limits.over(0.0, int(self.edges.sum()) // 2, self.tests)

    def _settle(self, pair: Pair, sets: Sequence[Parents], p_values: Sequence[float]) -> bool:
        """Whether one of the sets separates; the first to do so is recorded."""
        x, y = pair
        first = next((i for i, p in enumerate(p_values) if p > self.alpha), None)
        p = max(self.p_values[x, y], *p_values) if first is None else p_values[first]
        self.p_values[x, y] = self.p_values[y, x] = p
        if first is not None:
            self.edges[x, y] = self.edges[y, x] = False
            self.separating[pair] = sets[first]
        return first is not None

    def untestable(self) -> tuple[list[Pair], list[Pair]]:
        """Pairs where nothing was left to test: others determine one of the two, or there are too few rows."""
        unvarying, sparse = [], []
        for pair, given in self.separating.items():
            if self.p_values[pair] == 1.0:
                found = self.test(np.array([(*pair, *given)], np.int64))
                if found.degrees[0] == 0 and found.statistic[0] > 0:
                    sparse.append(pair)
                elif found.degrees[0] == 0 and given:
                    unvarying.append(pair)
        return unvarying, sparse

    def votes(self) -> dict[Pair, list[Vote]]:
        """For pairs that are not joined but share a neighbour, the sets that separate them, as large as that recorded.

        Further sets that leave nothing to test have no vote. Pairs that knowledge keeps apart have no record, so that
        sets of every size are looked at.
        """
        shared = (self.edges.astype(np.int64) @ self.edges) > 0
        apart, known = self.pairs(shared & ~self.edges), self.separating
        votes = {pair: [(float(self.p_values[pair]), known[pair])] if pair in known else [] for pair in apart}
        if not self.stopped:
            near = self.near()
            for size in range(max(map(len, known.values()), default=0) + 1):
                asked = {
                    pair: [given for given in sets_of(near, pair, size) if given != known.get(pair)]
                    for pair in apart
                    if pair not in known or len(known[pair]) == size
                }
                for pair, p_values in self.ask(asked, untestable=0.0).items():
                    found = zip(p_values, asked[pair], strict=True)
                    votes[pair] += [(p, given) for p, given in found if p > self.alpha]
        return votes


def sets_of(near: Sequence[Sequence[int]], pair: Pair, size: int) -> Iterator[Parents]:
    """The sets of a size among the neighbours of one of a pair, then those among the neighbours of the other, once."""
    if not size:
        yield ()
        return
    x, y = pair
    of_x = [v for v in near[x] if v != y]
    yield from combinations(of_x, size)
    seen, of_y = set(of_x), [v for v in near[y] if v != x]
    yield from (given for given in combinations(of_y, size) if not seen.issuperset(given))


def skeleton(
    test: Test,
    allowed: Allowed,
    rank: NDArray[np.int64],
    *,
    alpha: float = 0.05,
    most_given: int | None = None,
    limits: Limits = FOREVER,
) -> Skeleton:
    """The pairs that no set of neighbours separates; required arcs stay without a test."""
    fixed = allowed.required | allowed.required.T
    edges = allowed.arcs | allowed.arcs.T
    found = Skeleton(test, rank, alpha, edges, np.full(edges.shape, UNTESTED))
    size = 0
    while not found.stopped and (most_given is None or size <= most_given) and found.level(size, fixed, limits):
        size += 1
    return found
