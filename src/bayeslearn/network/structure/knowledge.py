"""What is known of a structure before any data: arcs that must or cannot be there, and who comes before whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, UnknownColumnError, listed, option
from bayeslearn.network.graph import Dag

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

Arc = tuple[str, str]


@dataclass(frozen=True)
class Allowed:
    """Knowledge by position: arcs[c, x] may be there, required[c, x] must."""

    arcs: NDArray[np.bool_]
    required: NDArray[np.bool_]
    most_parents: int


@dataclass(frozen=True)
class Knowledge:
    """Arcs are pairs (parent, child).

    >>> Knowledge(required=[("smoke", "lung")], roots=["asia"]).of(["asia", "smoke", "lung"]).arcs[1].tolist()
    [False, False, True]
    """

    required: Iterable[Arc] = ()
    forbidden: Iterable[Arc] = ()
    #: Groups of variables: none has a parent in a later group.
    tiers: Sequence[Iterable[str]] = ()
    #: Variables without parents, and without children.
    roots: Iterable[str] = ()
    leaves: Iterable[str] = ()
    most_parents: int | None = None

    def __post_init__(self) -> None:
        for name in ("required", "forbidden", "roots", "leaves"):  # read more than once
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "tiers", tuple(tuple(tier) for tier in self.tiers))

    @property
    def directs(self) -> bool:
        """Whether it may direct arcs that rows leave open."""
        return any((self.required, self.forbidden, self.tiers, self.roots, self.leaves))

    def of(self, names: Sequence[str]) -> Allowed:
        """The same by position, once it is seen to be possible."""
        place = {name: i for i, name in enumerate(names)}
        n = len(names)
        can, must = ~np.eye(n, dtype=np.bool_), np.zeros((n, n), np.bool_)
        for c, x in self._pairs(self.forbidden, place):
            can[c, x] = False
        if self.tiers:
            level = self._levels(place, n)
            can &= ~((level[:, None] > level[None, :]) & (level[None, :] >= 0) & (level[:, None] >= 0))
        can[:, self._places(self.roots, place)] = False
        can[self._places(self.leaves, place), :] = False
        for c, x in self._pairs(self.required, place):
            must[c, x] = True
        if self.required:
            self._check(names, can, must)
        most = n - 1 if self.most_parents is None else validation.integer("most_parents", self.most_parents, least=0)
        crowded = np.flatnonzero(must.sum(axis=0) > most)
        if len(crowded):
            raise ParameterError(
                f"{names[int(crowded[0])]!r} has more required parents than the limit of {most}",
                hint=f"raise {option('max_parents')}, or require fewer arcs",
            )
        return Allowed(can, must, most)

    def _check(self, names: Sequence[str], can: NDArray[np.bool_], must: NDArray[np.bool_]) -> None:
        clash = np.argwhere(must & ~can)
        if len(clash):
            c, x = clash[0].tolist()
            raise ParameterError(
                f"the arc {names[c]} -> {names[x]} is required, but other knowledge forbids it",
                hint="look at the forbidden arcs, tiers, roots and leaves",
            )
        Dag.from_arcs([(names[c], names[x]) for c, x in np.argwhere(must).tolist()])  # a cycle is named here

    def _levels(self, place: dict[str, int], n: int) -> NDArray[np.int64]:
        level = np.full(n, -1, np.int64)
        for number, tier in enumerate(self.tiers):
            level[self._places(tier, place)] = number
        return level

    def _places(self, names: Iterable[str], place: dict[str, int]) -> list[int]:
        return [self._place(name, place) for name in names]

    def _pairs(self, arcs: Iterable[Arc], place: dict[str, int]) -> list[tuple[int, int]]:
        return [(self._place(c, place), self._place(x, place)) for c, x in arcs]

    def _place(self, name: str, place: dict[str, int]) -> int:
        if name not in place:
            raise UnknownColumnError(
                f"knowledge names {name!r}, which is no column", hint=f"columns are {listed(place)}"
            )
        return place[name]
