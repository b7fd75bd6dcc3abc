"""Which nodes of a graph depend on which others: d-separation, active paths, and minimal separators.

A path is active given Z if every node on it is open:

    x → m → y,  x ← m ← y,  x ← m → y      m is open unless it is in Z
    x → m ← y                              m is open if it, or a descendant of it, is in Z

a and b are d-separated by Z if no path between them is active; then they are independent given Z in every network with
this graph. A search over pairs (node, direction) takes time linear in the number of arcs.

References
----------
Shachter (1998), Bayes-ball. Tian, Paz and Pearl (1998) and van der Zander and Liśkiewicz (2020), minimal separators.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from bayeslearn.errors import ParameterError, listed
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from bayeslearn.network.dag import DAG

    Nodes = str | Iterable[str]
    #: A node, and whether the walk came to it from below, that is from a child.
    Visit = tuple[str, bool]


@dataclass(frozen=True)
class ActivePath:
    """A path that news can take: its nodes, the arrow between each two, and what opens the nodes where arrows meet.

    >>> from bayeslearn.network import DAG
    >>> path = DAG.parse("[Storm][Bus][Camp|Storm:Bus][Smoke|Camp]").active_path("Storm", "Bus", given="Smoke")
    >>> print(path)
    Storm → Camp ← Bus, as 'Smoke' below 'Camp' is given
    >>> path.nodes, path.arrows, path.opened
    (('Storm', 'Camp', 'Bus'), ('→', '←'), (('Camp', 'Smoke'),))
    """

    nodes: tuple[str, ...]
    arrows: tuple[str, ...]
    #: Pairs (node where two arrows meet, the given node at or below it).
    opened: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        line = self.nodes[0] + "".join(f" {a} {n}" for a, n in zip(self.arrows, self.nodes[1:], strict=True))
        why = [f"{z!r} is given" if z == m else f"{z!r} below {m!r} is given" for m, z in self.opened]
        return printable(f"{line}, as {' and '.join(why)}" if why else line)


### questions


def d_separated(dag: DAG, a: Nodes, b: Nodes, given: Nodes = ()) -> bool:
    """Whether every path between `a` and `b` is blocked by `given`; an empty set is separated from all."""
    sources, targets, known = disjoint(dag, a=a, b=b, given=given)
    return targets.isdisjoint(node for node, _ in spread(dag, sources, known))


def connected_given(dag: DAG, a: Nodes, given: Nodes = ()) -> frozenset[str]:
    """All nodes that are not separated from `a` by `given`, without these two."""
    sources, known = disjoint(dag, a=a, given=given)
    return frozenset(node for node, _ in spread(dag, sources, known)) - sources - known


def active_path(dag: DAG, a: Nodes, b: Nodes, given: Nodes = ()) -> ActivePath | None:
    """A shortest open path from `a` to `b`, or None when they are separated."""
    sources, targets, known = disjoint(dag, a=a, b=b, given=given)
    came = spread(dag, sources, known)
    visit = next((visit for visit in came if visit[0] in targets), None)
    if visit is None:
        return None
    walk = [visit]
    while (before := came[walk[-1]]) is not None:
        walk.append(before)
    walk.reverse()
    nodes = tuple(node for node, _ in walk)
    arrows = tuple("←" if upward else "→" for _, upward in walk[1:])
    meeting = [m for m, left, right in zip(nodes[1:], arrows, arrows[1:], strict=False) if (left, right) == ("→", "←")]
    return ActivePath(nodes, arrows, tuple((m, _at_or_below(dag, m, known)) for m in meeting))


def minimal_separator(dag: DAG, a: Nodes, b: Nodes, among: Nodes | None = None) -> frozenset[str] | None:
    """Nodes that separate `a` from `b`, none of which could be left out; None when nothing separates them.

    If any set taken from `among` (all nodes by default) separates, then so do those of its nodes that lie above a or b.
    In the moral graph of a, b and what lies above them, only the ones met first on the way from a, and of these the
    ones met first on the way from b, are needed: of several answers this is the one nearest to a.
    """
    sources, targets = disjoint(dag, a=a, b=b)
    ends = sources | targets
    above = ends | dag.ancestors(ends)
    allowed = above if among is None else above.intersection(dag.known(among))
    near = neighbors(dag.subgraph(above).moral, above)
    reached, fence = _until(sources, allowed - ends, near)
    if not targets.isdisjoint(reached):
        return None
    return frozenset(_until(targets, fence, near)[1])


### walks


def spread(dag: DAG, sources: frozenset[str], given: frozenset[str]) -> dict[Visit, Visit | None]:
    """Every visit of the ball that starts at `sources`, nearest first, with the visit before it.

    The first visits to a node suffice to find open paths: no node stands twice on the way back from any visit.
    """
    opened = given | closure(given, dag.parents)
    came: dict[Visit, Visit | None] = {(node, True): None for node in sorted(sources)}
    queue = deque(came)
    while queue:
        visit = node, upward = queue.popleft()
        steps: list[Visit] = []
        if node not in given:
            steps += [(child, False) for child in dag.children(node)]
        if (node not in given) if upward else (node in opened):
            steps += [(parent, True) for parent in dag.parents(node)]
        for step in steps:
            if step not in came:
                came[step] = visit
                queue.append(step)
    return came


def closure(start: Iterable[str], step: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """All that one or more steps lead to."""
    found: set[str] = set()
    todo = list(start)
    while todo:
        new = [node for node in step(todo.pop()) if node not in found]
        found.update(new)
        todo += new
    return frozenset(found)


def _at_or_below(dag: DAG, node: str, given: frozenset[str]) -> str:
    """The nearest given node at or below this one; there is one."""
    queue, seen = deque([node]), {node}
    while (first := queue.popleft()) not in given:
        new = [child for child in dag.children(first) if child not in seen]
        seen.update(new)
        queue.extend(new)
    return first


def _until(
    start: frozenset[str], fence: set[str] | frozenset[str], near: Mapping[str, set[str]]
) -> tuple[set[str], set[str]]:
    """What can be reached without passing the fence, and the part of the fence that is met."""
    reached, met, todo = set(start), set[str](), list(start)
    while todo:
        new = near[todo.pop()] - reached
        met |= new & fence
        reached |= new - fence
        todo += new - fence
    return reached, met


### undirected graphs: pairs of nodes


def moral(dag: DAG) -> frozenset[frozenset[str]]:
    """The arcs without their direction, and a pair for each two parents of one node."""
    married = (frozenset(pair) for parents in dag.families.values() for pair in combinations(parents, 2))
    return dag.skeleton.union(married)


def neighbors(pairs: Iterable[frozenset[str]], nodes: Iterable[str]) -> dict[str, set[str]]:
    """For each node, those it makes a pair with."""
    near: dict[str, set[str]] = {node: set() for node in nodes}
    for one, other in pairs:
        near[one].add(other)
        near[other].add(one)
    return near


### checks


def disjoint(dag: DAG, **sets: Nodes) -> list[frozenset[str]]:
    """Sets of nodes of the graph, of which no two share a node."""
    checked = {name: frozenset(dag.known(nodes)) for name, nodes in sets.items()}
    for one, other in combinations(checked, 2):
        shared = sorted(checked[one] & checked[other])
        if shared:
            raise ParameterError(
                f"`{one}` and `{other}` share {listed(shared)}",
                hint="a node is asked about on one side or is given: name it once",
                nodes=shared,
            )
    return list(checked.values())
