"""Structures from tests of independence: the PC algorithm, in its form where the order of columns does not matter.

skeleton   the pairs that no set separates, see :mod:`bayeslearn.network.structure.testing.skeleton`
pattern    directions from the sets that separated, see :mod:`bayeslearn.network.structure.testing.orientation`
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, listed
from bayeslearn.network.equivalence import Cpdag
from bayeslearn.network.graph import Dag
from bayeslearn.network.structure.limits import FOREVER
from bayeslearn.network.structure.searching.climbing import ranks
from bayeslearn.network.structure.testing.independence import LEAST_ROWS, test_of
from bayeslearn.network.structure.testing.orientation import Pattern, colliders
from bayeslearn.network.structure.testing.skeleton import UNTESTED, skeleton

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.counts import FamilyCounts
    from bayeslearn.network.structure.knowledge import Allowed
    from bayeslearn.network.structure.limits import Limits
    from bayeslearn.network.structure.testing.skeleton import Pair, Skeleton


@dataclass(frozen=True)
class PcResult:
    """The class of graphs that the tests speak for, and the tests that made it."""

    cpdag: Cpdag
    #: One graph of the class, or the nearest where there is none, as `notes` then say.
    dag: Dag
    #: Of a pair that is joined the largest that it survived, of another that of the set that separates it.
    p_values: Mapping[frozenset[str], float]
    #: Pairs that are not joined, with the set that separates them.
    separating: Mapping[frozenset[str], tuple[str, ...]]
    tests: int
    #: What the tests leave in doubt, in sentences.
    notes: tuple[str, ...] = ()


def pc(
    counts: FamilyCounts,
    allowed: Allowed,
    *,
    alpha: float = 0.05,
    kind: str = "g2",
    degrees: str = "adjusted",
    most_given: int | None = None,
    limits: Limits = FOREVER,
) -> PcResult:
    """The class of graphs by tests at the level `alpha`, with sets of at most `most_given` variables.

    >>> from bayeslearn.network.structure.counting.counts import FamilyCounts
    >>> from bayeslearn.network.structure.knowledge import Knowledge
    >>> from bayeslearn.tables import as_table
    >>> counts = FamilyCounts(as_table({"rain": list("nnyy") * 9, "hose": list("nyny") * 9, "wet": list("nyyy") * 9}))
    >>> pc(counts, Knowledge().of(counts.names)).cpdag
    Cpdag(hose → wet, rain → wet)
    """
    alpha = validation.number("alpha", alpha, above=0, below=1)
    if most_given is not None:
        most_given = validation.integer("most_given", most_given, least=0)
    if allowed.most_parents < len(counts.names) - 1:
        raise ParameterError(
            "tests of independence cannot keep to a limit of parents",
            hint="limit the sets with `most_given`, or search by score, as MMHC does",
        )
    test = test_of(counts, kind, degrees)
    found = skeleton(test, allowed, ranks(counts.names), alpha=alpha, most_given=most_given, limits=limits)
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


def _named(names: Sequence[str], found: Skeleton, pattern: Pattern, lost: Sequence[Pair]) -> PcResult:
    graph, faithful = pattern.graph()

    def named(pair: Pair) -> frozenset[str]:
        return frozenset(names[v] for v in pair)

    return PcResult(
        Cpdag(names, _arcs(names, pattern.arcs), map(named, found.pairs(pattern.edges))),
        Dag.from_arcs(_arcs(names, graph), names),
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
