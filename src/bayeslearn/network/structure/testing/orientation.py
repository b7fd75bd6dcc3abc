"""From a skeleton to a pattern: which edges get a direction, and from a pattern to a graph.

    knowledge      an edge that may point one way only points that way
    v-structures   a → c ← b for a — c — b, a and b not joined, where c is in fewer than half of the sets that
                   separate a from b; where it is in just half of them, or there are none, the triple stays open
    rule 1         a → b — c, a and c not joined                                    b → c, or a → b ← c would be new
    rule 2         a → … → c, a — c                                                 a → c, or there were a cycle
    rule 3         a — c → b, a — d → b, c and d not joined, a — b                  a → b
    rule 4         a — c → d → b, c and b not joined, a joined to d, a — b          a → b

Rules 1, 3 and 4 rest on triples that are no v-structures (a — b — c; c — a — d; c — a — b); open ones do not do.
On data these may contradict each other. The first to speak is kept: knowledge, then v-structures by their p-value, the
largest first, then the rules by the names of the variables. No direction is given that would close a cycle.

References
----------
Meek (1995), Causal inference and causal explanation with background knowledge. Colombo and Maathuis (2014),
Order-independent constraint-based causal structure learning, for the vote of separating sets (the majority rule).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayeslearn.network.structure.searching.classes import member

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.cache import Parents
    from bayeslearn.network.structure.knowledge import Allowed

    #: A set that separates a pair, and with what p-value.
    Vote = tuple[float, Parents]

    #: a — c — b.
    Triple = tuple[int, int, int]


class Collider(NamedTuple):
    """a → c ← b, and the largest p-value of a set without c that separates a from b."""

    p_value: float
    a: int
    c: int
    b: int


def colliders(
    edges: NDArray[np.bool_], votes: Mapping[tuple[int, int], Sequence[Vote]], rank: NDArray[np.int64]
) -> tuple[list[Collider], set[Triple]]:
    """The v-structures that most sets separating their ends speak for, by p-value, and the triples that stay open."""
    found, undecided = [], set()
    for (a, b), sets in votes.items():
        for c in np.flatnonzero(edges[a] & edges[b]).tolist():
            without = [p for p, given in sets if c not in given]
            if 2 * len(without) > len(sets):
                found.append(Collider(max(without), a, c, b))
            elif 2 * len(without) == len(sets):
                undecided |= {(a, c, b), (b, c, a)}
    return sorted(found, key=lambda v: (-v.p_value, rank[v.c], *sorted((rank[v.a], rank[v.b])))), undecided


class Pattern:
    """A graph whose edges are given directions one by one."""

    def __init__(self, edges: NDArray[np.bool_], rank: NDArray[np.int64]) -> None:
        self.joined, self.rank = edges.copy(), rank
        self.arcs = np.zeros_like(edges)
        self.reach = np.zeros_like(edges)
        #: a — c — b of which it is not known whether they are v-structures, in both directions.
        self.undecided: set[Triple] = set()
        #: Pairs that were asked to point both ways.
        self.contradictions: set[frozenset[int]] = set()

    @property
    def edges(self) -> NDArray[np.bool_]:
        """Those without a direction."""
        return self.joined & ~self.arcs & ~self.arcs.T

    @property
    def marks(self) -> NDArray[np.bool_]:
        """marks[a, b]: a → b or a — b."""
        return self.joined & ~self.arcs.T

    def can_point(self, a: int, b: int) -> bool:
        """Whether a → b contradicts nothing so far."""
        return not (self.arcs[b, a] or self.reach[b, a])

    def point(self, a: int, b: int) -> bool:
        """a → b, unless that contradicts what is there; whether it does not."""
        if not self.can_point(a, b):
            self.contradictions.add(frozenset((a, b)))
            return False
        self.arcs[a, b] = True
        above, below = self.reach[:, a].copy(), self.reach[b].copy()
        above[a] = below[b] = True
        self.reach |= np.outer(above, below)
        return True

    def by_name(self, pairs: NDArray[np.bool_]) -> list[tuple[int, int]]:
        """Pairs, the first names first."""
        return sorted(
            ((a, b) for a, b in np.argwhere(pairs).tolist()), key=lambda p: (self.rank[p[0]], self.rank[p[1]])
        )

    ### what gives directions

    def know(self, allowed: Allowed, p_values: NDArray[np.float64]) -> list[tuple[int, int]]:
        """Required arcs and edges that may point one way; those that cannot without a cycle are taken out and returned.

        The surest edges, which kept the smallest p-value, come first.
        """
        for a, b in self.by_name(allowed.required):
            self.point(a, b)
        one_way = self.by_name(self.edges & allowed.arcs & ~allowed.arcs.T)
        lost = [(a, b) for a, b in sorted(one_way, key=lambda pair: p_values[pair]) if not self.point(a, b)]
        for a, b in lost:
            self.joined[a, b] = self.joined[b, a] = False
        return lost

    def collide(self, found: Iterable[Collider]) -> None:
        """a → c ← b, both arcs or none."""
        for _, a, c, b in found:
            if not (self.joined[a, c] and self.joined[b, c]):
                continue
            if self.can_point(a, c) and self.can_point(b, c):
                self.point(a, c)
                self.point(b, c)
            else:
                self.contradictions.add(frozenset((a, c) if not self.can_point(a, c) else (b, c)))

    def follow(self) -> None:
        """The rules, until they say no more."""
        while (wanted := self.wanted()).any():
            for a, b in self.by_name(wanted):
                if not self.arcs[a, b]:
                    self.point(a, b)

    def wanted(self) -> NDArray[np.bool_]:
        """The directions that the rules ask for."""
        edges, wanted = self.edges, np.zeros_like(self.arcs)
        apart = ~self.joined
        np.fill_diagonal(apart, val=False)
        for a, b in np.argwhere(edges).tolist():
            wanted[a, b] = (
                self.reach[a, b]
                or (self.arcs[:, a] & apart[b] & self.decided(a, b)).any()
                or any(
                    (apart[c] & edges[a] & self.arcs[:, b] & self.decided(a, c)).any()
                    for c in np.flatnonzero(edges[a] & self.arcs[:, b]).tolist()
                )
                or self.arcs[np.ix_(edges[a] & apart[b] & self.decided(a, b), self.joined[a] & self.arcs[:, b])].any()
            )
        return wanted

    def decided(self, c: int, b: int) -> NDArray[np.bool_]:
        """For every a whether it is known of a — c — b that this is no v-structure, or that it is one."""
        return np.array([(a, c, b) not in self.undecided for a in range(len(self.arcs))])

    ### a graph

    def graph(self) -> tuple[NDArray[np.bool_], bool]:
        """A graph with all these arcs and edges, and whether it adds no v-structure.

        Where every such graph adds one, edges are directed by the names of the variables, and the rules followed.
        """
        arcs = member(self.marks, self.rank)
        if arcs is not None:
            return arcs, True
        whole = Pattern(self.joined, self.rank)
        whole.arcs, whole.reach = self.arcs.copy(), self.reach.copy()
        while (edges := whole.edges).any():
            whole.point(*whole.by_name(edges)[0])
            whole.follow()
        return whole.arcs, False
