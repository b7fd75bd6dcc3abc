"""Structures from tests of independence: the PC algorithm, in its form where the order of columns does not matter.

skeleton   the pairs that no set separates
pattern    directions from the sets that separated

The skeleton is that of the stable form of PC:

    all pairs are joined; for k = 0, 1, … the edge x — y goes when x and y are independent given some k of the
    neighbors of x, or of y, that were there when k began

A set separates when the p-value of its test is above α. The first by names that does is recorded. Afterwards all
sets of its size among the neighbors that are left, and itself, vote on the v-structures between the two variables.

From a skeleton to a pattern, some edges get a direction:

    knowledge      an edge that may point one way only points that way
    v-structures   a → c ← b for a — c — b, a and b not joined, where c is in fewer than half of the sets that
                   separate a from b; where it is in just half of them, or there are none, the triple stays open
    rule 1         a → b — c, a and c not joined                                    b → c, or a → b ← c would be new
    rule 2         a → … → c, a — c                                                 a → c, or there were a cycle
    rule 3         a — c → b, a — d → b, c and d not joined, a — b                  a → b
    rule 4         a — c → d → b, c and b not joined, a joined to d, a — b          a → b

Rules 1, 3 and 4 are based on triples that are no v-structures (a — b — c; c — a — d; c — a — b); open ones do not do.
On data these may contradict each other. The first orientation is kept: knowledge, then v-structures by p-value, the
largest first, then the rules by the names of the variables. No direction is given that would close a cycle.

References
----------
Meek (1995), Causal inference and causal explanation with background knowledge. Colombo and Maathuis (2014),
Order-independent constraint-based causal structure learning, for the vote of separating sets (the majority rule).
Spirtes, Glymour and Scheines (2000), PC.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, listed
from bayeslearn.network.dag import DAG
from bayeslearn.network.equivalence import CPDAG
from bayeslearn.network.structure.constraint_based.independence_tests import LEAST_ROWS, on_all_cores, test_of
from bayeslearn.network.structure.score_based.hill_climbing import member, ranks
from bayeslearn.network.structure.search_settings import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.structure.constraint_based.independence_tests import Test
    from bayeslearn.network.structure.scoring.criteria import Parents
    from bayeslearn.network.structure.scoring.family_counts import Counts
    from bayeslearn.network.structure.search_settings import Allowed, Budget

    #: A set that separates a pair, and with what p-value.
    Vote = tuple[float, Parents]

    #: a — c — b.
    Triple = tuple[int, int, int]

    Pair = tuple[int, int]


class Collider(NamedTuple):
    """a → c ← b, and the largest p-value of a set without c that separates a from b."""

    p_value: float
    a: int
    c: int
    b: int


def colliders(
    edges: NDArray[np.bool_], votes: Mapping[tuple[int, int], Sequence[Vote]], rank: NDArray[np.int64]
) -> tuple[list[Collider], set[Triple]]:
    """The v-structures that most sets separating their ends support, by p-value, and the triples that stay open."""
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
        """The rules, until none applies."""
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


#: Tests between two looks at the clock.
BATCH = 4096

#: p-value of a pair that no test was made of.
UNTESTED = -1.0


@dataclass
class Skeleton:
    """Which pairs stay joined, and why."""

    test: Test
    rank: NDArray[np.int64]
    significance_level: float
    edges: NDArray[np.bool_]
    #: Of an edge that stayed the largest that it survived, of another that of the set that separates.
    p_values: NDArray[np.float64]
    separating: dict[Pair, Parents] = field(default_factory=dict)
    tests: int = 0
    stopped: bool = False

    def near(self) -> list[list[int]]:
        """The neighbors of each variable by name."""
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

    def level(self, size: int, fixed: NDArray[np.bool_], budget: Budget) -> bool:
        """Take away edges by sets of one size; whether there were any such sets."""
        near = self.near()
        pairs = [(x, y) for x, y in self.pairs(self.edges & ~fixed) if max(len(near[x]), len(near[y])) > size]
        for begin in range(0, len(pairs), BATCH):
            self._separate({pair: sets_of(near, pair, size) for pair in pairs[begin : begin + BATCH]}, budget)
        return bool(pairs)

    def _separate(self, waiting: dict[Pair, Iterator[Parents]], budget: Budget) -> None:
        """A few sets of every pair at a time, then more, until it is separated or has no more."""
        width = 1
        while waiting and not self.stopped:
            asked = {pair: found for pair, sets in waiting.items() if (found := list(islice(sets, width)))}
            answers = self.ask(asked)
            waiting = {pair: waiting[pair] for pair, p in answers.items() if not self._settle(pair, asked[pair], p)}
            width = min(4 * width, max(1, BATCH // max(len(waiting), 1)))
            self.stopped = budget.over(0.0, int(self.edges.sum()) // 2, self.tests)

    def _settle(self, pair: Pair, sets: Sequence[Parents], p_values: Sequence[float]) -> bool:
        """Whether one of the sets separates; the first to do so is recorded."""
        x, y = pair
        first = next((i for i, p in enumerate(p_values) if p > self.significance_level), None)
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
        """For pairs that are not joined but share a neighbor, the sets that separate them, as large as that recorded.

        Further sets that leave nothing to test have no vote. Pairs that knowledge keeps apart have no record, so that
        sets of every size are considered.
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
                    votes[pair] += [(p, given) for p, given in found if p > self.significance_level]
        return votes


def sets_of(near: Sequence[Sequence[int]], pair: Pair, size: int) -> Iterator[Parents]:
    """The sets of a size among the neighbors of one of a pair, then those among the neighbors of the other, once."""
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
    significance_level: float = 0.05,
    most_given: int | None = None,
    budget: Budget = UNLIMITED,
) -> Skeleton:
    """The pairs that no set of neighbors separates; required arcs stay without a test."""
    fixed = allowed.required | allowed.required.T
    edges = allowed.arcs | allowed.arcs.T
    found = Skeleton(test, rank, significance_level, edges, np.full(edges.shape, UNTESTED))
    size = 0
    while not found.stopped and (most_given is None or size <= most_given) and found.level(size, fixed, budget):
        size += 1
    return found


@dataclass(frozen=True)
class PCResult:
    """The class of graphs that the tests support, and the tests that made it."""

    cpdag: CPDAG
    #: One graph of the class, or the nearest where there is none, as `notes` then say.
    dag: DAG
    #: Of a pair that is joined the largest that it survived, of another that of the set that separates it.
    p_values: Mapping[frozenset[str], float]
    #: Pairs that are not joined, with the set that separates them.
    separating: Mapping[frozenset[str], tuple[str, ...]]
    n_tests: int
    #: What the tests leave in doubt, in sentences.
    notes: tuple[str, ...] = ()


def pc(
    counts: Counts,
    allowed: Allowed,
    *,
    significance_level: float = 0.05,
    kind: str = "g_test",
    degrees: str = "adjusted",
    most_given: int | None = None,
    budget: Budget = UNLIMITED,
) -> PCResult:
    """The class of graphs by tests at the level `significance_level`, with sets of at most `most_given` variables.

    >>> from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
    >>> from bayeslearn.network.structure.search_settings import BackgroundKnowledge
    >>> from bayeslearn.tables import as_table
    >>> counts = FamilyCounts(as_table({"rain": list("nnyy") * 9, "hose": list("nyny") * 9, "wet": list("nyyy") * 9}))
    >>> pc(counts, BackgroundKnowledge().of(counts.names)).cpdag
    CPDAG(hose → wet, rain → wet)
    """
    significance_level = validation.number("significance_level", significance_level, above=0, below=1)
    if most_given is not None:
        most_given = validation.integer("most_given", most_given, min_value=0)
    if allowed.max_parents < len(counts.names) - 1:
        hint = "limit the sets with `most_given`, or search by score, as MMHC does"
        raise ParameterError("independence tests cannot limit the number of parents", hint=hint)
    test = test_of(counts, kind, degrees)
    level, rank = significance_level, ranks(counts.names)
    found = skeleton(test, allowed, rank, significance_level=level, most_given=most_given, budget=budget)
    return _named(counts.names, found, *oriented(found, allowed))


def oriented(found: Skeleton, allowed: Allowed) -> tuple[Pattern, list[Pair]]:
    """The pattern of a skeleton, and edges for which knowledge leaves no direction."""
    pattern = Pattern(found.edges, found.rank)
    lost = pattern.know(allowed, found.p_values)
    v_structures, pattern.undecided = colliders(found.edges, found.votes(), found.rank)
    pattern.collide(v_structures)
    pattern.follow()
    return pattern, lost


### by name


def _named(names: Sequence[str], found: Skeleton, pattern: Pattern, lost: Sequence[Pair]) -> PCResult:
    graph, faithful = pattern.graph()

    def named(pair: Pair) -> frozenset[str]:
        return frozenset(names[v] for v in pair)

    return PCResult(
        CPDAG(names, _arcs(names, pattern.arcs), map(named, found.pairs(pattern.edges))),
        DAG.from_arcs(_arcs(names, graph), names),
        {named(pair): float(found.p_values[pair]) for pair in found.pairs(found.p_values != UNTESTED)},
        {named(pair): tuple(names[v] for v in given) for pair, given in found.separating.items()},
        found.tests,
        tuple(_notes(names, found, pattern, lost, faithful=faithful)),
    )


def _arcs(names: Sequence[str], arcs: NDArray[np.bool_]) -> list[tuple[str, str]]:
    return [(names[c], names[x]) for c, x in np.argwhere(arcs).tolist()]


def _notes(
    names: Sequence[str], found: Skeleton, pattern: Pattern, lost: Sequence[Pair], *, faithful: bool
) -> Iterator[str]:
    def some(pairs: Iterable[Iterable[int]]) -> str:
        return listed(sorted(" — ".join(sorted(names[v] for v in pair)) for pair in pairs), most=4)

    unvarying, sparse = found.untestable()
    if lost:
        yield f"left out, for the only direction that knowledge leaves would close a cycle: {some(lost)}"
    if unvarying:
        yield f"left out without a test, for given others nothing varies: {some(unvarying)}"
    if sparse:
        yield f"left out without a test, for there are less than {LEAST_ROWS:g} rows a cell: {some(sparse)}"
    if pattern.undecided:
        triples = [f"{names[a]} — {names[c]} — {names[b]}" for a, c, b in pattern.undecided if names[a] < names[b]]
        yield f"as many sets speak for a v-structure as against, so it is left open: {listed(sorted(triples), most=4)}"
    if pattern.contradictions:
        yield f"the tests contradict each other in the direction of {some(pattern.contradictions)}"
    if not faithful:
        yield "no graph has all directions found without a further v-structure; this is a near one"
    if found.stopped:
        yield f"stopped after {found.tests:,} tests: further ones would take edges away"
