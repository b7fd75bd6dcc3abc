"""Which uses to take: as much of the specification as can be, by as few cases as can be.

    minimise  (influences left open, arcs left open, cases, surplus)        in this order

where a quantity may not be of two kinds. Arc by arc, the hardest first: taken by one use or another, or left open; what
cannot beat the best is left out. Exact unless the bound on work ends it, and then the best so far.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from bayeslearn.cases.using import agreeing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayeslearn.cases.graph import FunctionGraph
    from bayeslearn.cases.using import Use

    Cost = tuple[int, int, int, int]

#: Uses and arcs that one search looks at, at most.
MOST_WORK = 400_000


@dataclass(frozen=True)
class Cover:
    """The uses taken, what they leave open, and whether none are better."""

    uses: tuple[Use, ...]
    cost: Cost
    certain: bool


def cover(graph: FunctionGraph, uses: Sequence[Use], origins: Sequence[int]) -> Cover:
    """The best set of uses; `origins` are the influences, as bits, that each arc of the graph comes from."""
    number = {arc: i for i, arc in enumerate(graph.arcs)}
    masks = [sum(1 << number[arc] for arc in use.covered) for use in uses]
    search = _Search(masks, [use.tells(graph) for use in uses], [len(use.surplus) for use in uses], origins)
    search.go((1 << len(graph)) - 1, list(range(len(uses))), {}, (), 0)
    chosen = tuple(sorted((uses[i] for i in search.best), key=lambda use: (use.covered, use.rank)))
    return Cover(chosen, search.cost, search.work <= MOST_WORK)


@dataclass
class _Search:
    masks: list[int]
    tells: list[dict[str, str]]
    surplus: list[int]
    origins: Sequence[int]
    work: int = 0
    best: tuple[int, ...] = ()
    cost: Cost = field(init=False)

    def __post_init__(self) -> None:
        self.bits = [_bits(mask) for mask in self.masks]
        self.cost = self._cost((1 << len(self.origins)) - 1, ())

    def _cost(self, left: int, chosen: tuple[int, ...], more: int = 0) -> Cost:
        """Of leaving these arcs open; `more` uses will be needed at least."""
        origins = 0
        for i, origin in enumerate(self.origins):
            if left >> i & 1:
                origins |= origin
        return origins.bit_count(), left.bit_count(), len(chosen) + more, sum(self.surplus[i] for i in chosen)

    def go(self, undecided: int, able: list[int], told: dict[str, str], chosen: tuple[int, ...], left: int) -> None:
        """Decide on the arcs that are undecided with the uses that are able; `left` are left open."""
        self.work += len(able) + len(self.origins)
        reach = 0
        for i in able:
            reach |= self.masks[i]
        left |= undecided & ~reach
        undecided &= reach
        if not undecided:
            self.best, self.cost = min((self.best, self.cost), (chosen, self._cost(left, chosen)), key=lambda it: it[1])
            return
        widest = max((self.masks[i] & undecided).bit_count() for i in able)
        if self._cost(left, chosen, -(-undecided.bit_count() // widest)) >= self.cost or self.tired():
            return
        arc = self.hardest(undecided, able)
        takers = {i for i in able if self.masks[i] >> arc & 1}
        for i in sorted(takers, key=lambda i: (-(self.masks[i] & undecided).bit_count(), self.surplus[i], i)):
            known = told | self.tells[i]
            still = [j for j in able if j != i and self.masks[j] & undecided & ~self.masks[i]]
            still = [j for j in still if agreeing(known, self.tells[j])]
            self.go(undecided & ~self.masks[i], still, known, (*chosen, i), left)
        self.go(undecided & ~(1 << arc), [i for i in able if i not in takers], told, chosen, left | 1 << arc)

    def tired(self) -> bool:
        """Whether the work is done, once there is an answer."""
        return bool(self.best) and self.work > MOST_WORK

    def hardest(self, undecided: int, able: list[int]) -> int:
        """The arc that the fewest uses cover."""
        takers = Counter(chain.from_iterable(map(self.bits.__getitem__, able)))
        return min((arc for arc in takers if undecided >> arc & 1), key=lambda arc: (takers[arc], arc))


def _bits(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]
