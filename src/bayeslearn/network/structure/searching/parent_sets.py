"""The parent sets that a variable may have, each with its score, best first.

    dominated   score(x, S) ≤ score(x, T) for some T ⊂ S: S is never chosen, for T fits wherever S does
    closed      every larger set is dominated, by a bound that is looked at before anything is counted: see `bounds`

Sets grow by one parent at a time, and one pass over the data scores a set with all its further parents. Variables are
numbered by their names here, so that equal scores are told apart by these: fewer parents first, then the alphabet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels
from bayeslearn.errors import CapacityError
from bayeslearn.network.structure.limits import FOREVER
from bayeslearn.network.structure.searching.candidates import likely
from bayeslearn.network.structure.searching.climbing import ranks
from bayeslearn.network.structure.searching.growing import Growing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.cache import Parents, ScoreCache
    from bayeslearn.network.structure.knowledge import Allowed
    from bayeslearn.network.structure.limits import Limits
    from bayeslearn.network.structure.searching.growing import Sets

#: Candidates of one child, each a bit of a word; of more, the best by themselves are kept.
MOST_CANDIDATES = 62

#: A child and its candidates.
Known = tuple[int, bytes]

#: Rows that take as long as what each set takes besides them.
SET = 1 << 12

#: Parent sets of all children together.
MOST_SETS = 1 << 25


@dataclass(frozen=True)
class ParentSets:
    """Sets of each variable, best first, by number in the order of names.

    The sets of variable x are first[x] to first[x + 1]; the members of set s are members[start[s] : start[s + 1]].
    """

    #: The position of the variable with each number.
    by_name: NDArray[np.int64]
    first: NDArray[np.int64]
    start: NDArray[np.int64]
    members: NDArray[np.int64]
    scores: NDArray[np.float64]
    #: required[c, x]: every set of x has c.
    required: NDArray[np.bool_]
    #: Sets of so many parents were looked at only where all that are one smaller are worth having; None: all were.
    narrowed: int | None = None

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def n(self) -> int:
        """How many variables there are."""
        return len(self.by_name)

    @property
    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """What kernels take."""
        return self.first, self.start, self.members, self.scores

    @cached_property
    def masks(self) -> NDArray[np.int64]:
        """Each set as the bits of its members."""
        masks = np.zeros(len(self), np.int64)
        np.bitwise_or.at(masks, np.repeat(np.arange(len(self)), np.diff(self.start)), np.int64(1) << self.members)
        return masks

    def of(self, position: int) -> list[tuple[Parents, float]]:
        """The sets of the variable at a position, best first, by positions and with their scores."""
        x = int(np.flatnonzero(self.by_name == position)[0])
        return [
            (
                tuple(sorted(self.by_name[self.members[self.start[s] : self.start[s + 1]]].tolist())),
                float(self.scores[s]),
            )
            for s in range(self.first[x], self.first[x + 1])
        ]

    def arcs(self, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The graph in which each variable has its chosen set, by position."""
        arcs = np.zeros((self.n, self.n), np.bool_)
        for x, s in enumerate(chosen):
            arcs[self.by_name[self.members[self.start[s] : self.start[s + 1]]], self.by_name[x]] = True
        return arcs

    def possible(self, order: Iterable[int]) -> NDArray[np.int64]:
        """The order with required parents before their children, otherwise as it is."""
        waiting, left = self.required.sum(axis=0), [int(x) for x in order]
        found = []
        while left:
            found.append(next(x for x in left if not waiting[x]))
            left.remove(found[-1])
            waiting -= self.required[found[-1]]
        return np.array(found, np.int64)


def parent_sets(
    cache: ScoreCache,
    allowed: Allowed,
    limits: Limits = FOREVER,
    *,
    candidates: NDArray[np.bool_] | None = None,
    dominated: bool = False,
    full: int | None = None,
    known: dict[Known, Sets] | None = None,
    standing: tuple[float, int] | None = None,
    floor: NDArray[np.float64] | None = None,
    work: float = math.inf,
) -> ParentSets:
    """All parent sets that knowledge allows and no other beats; when time runs out, those of few parents.

    Parameters
    ----------
    candidates
        candidates[c, x]: c is considered as a parent of x; every allowed arc when not given, of which no more than the
        best 62 by themselves are looked at.
    dominated
        Keep every set, as sums over sets need.
    full
        Larger sets are looked at only where all that are one parent smaller are worth having; every set when not given.
    known
        Sets found before by the same score and knowledge, by child and candidates; what is found is added.
    standing
        Score and arcs of the best graph so far, for those who are told; that of the required arcs when not given.
    floor
        Scores that some set of each variable is known to reach: none but the best sets are then wanted.
    work
        Sets times rows, and some more for each set, that may be looked at; beyond, larger sets as with `full`.
    """
    can = likely(
        cache, allowed, MOST_CANDIDATES, among=allowed.arcs if candidates is None else allowed.arcs & candidates
    )
    by_name = np.argsort(ranks(cache.counts.names))
    known = {} if known is None else known
    keys = {int(x): (int(x), can[:, x].tobytes()) for x in by_name}
    new = [
        Growing(
            cache, allowed, can, x, by_name, keep_all=dominated, full=full, floor=None if floor is None else floor[x]
        )
        for x in keys
        if keys[x] not in known
    ]
    required = sum(child.best for child in new), int(allowed.required.sum())
    narrowed = _grow(new, allowed.most_parents, limits, standing or required, work / (cache.counts.rows + SET))
    found = {child.x: child.finished() for child in new}
    known |= {keys[x]: sets for x, sets in found.items()}
    sets = _gathered(by_name, [known[key] for key in keys.values()], allowed.required[np.ix_(by_name, by_name)])
    return replace(sets, narrowed=narrowed)


def _grow(
    children: list[Growing], most: int, limits: Limits, standing: tuple[float, int], affordable: float
) -> int | None:
    """Parent by parent, until there is nothing to add, nor time; the number of parents from which on not all were."""
    narrowed = None
    for level in range(most):
        growing = [child for child in children if not limits.reached() and child.propose(level)]
        scored = sum(child.n_sets for child in children)
        if narrowed is None and scored > affordable:
            narrowed = level + 1
            for child in growing:
                child.n_sets -= len(child.proposed)
                child.narrow()
            growing = [child for child in growing if child.propose(level)]
            scored = sum(child.n_sets for child in children)
        if scored > MOST_SETS:
            raise CapacityError(
                f"there are {scored:,} parent sets of up to {level + 1} parents, more than {MOST_SETS:,}",
                hint="limit the number of parents (most_parents), or the candidates",
                sets=scored,
            )
        if not growing or limits.over(*standing, level):
            break
        kernels.parallel(partial(Growing.grow, limits=limits), growing)
    return narrowed


def _gathered(by_name: NDArray[np.int64], found: list[Sets], required: NDArray[np.bool_]) -> ParentSets:
    sets = [members for children, _ in found for members in children]
    return ParentSets(
        by_name,
        np.cumsum([0, *(len(scores) for _, scores in found)], dtype=np.int64),
        np.cumsum([0, *map(len, sets)], dtype=np.int64),
        np.array([v for members in sets for v in members], np.int64),
        np.concatenate([scores for _, scores in found]),
        required,
    )
