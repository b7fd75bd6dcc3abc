"""Designs: cases that together do what a specification asks for, if need be after it was rewritten.

Best first: a specification is covered by cases (:mod:`bayeslearn.cases.covering`); while something is left open, rules
rewrite it (:mod:`bayeslearn.cases.rules`), what is left open first, and what comes out is covered again. Functions that
differ in names only are looked at once. The search ends with the first design that leaves nothing open, or at a bound,
and says which.

Ranked by the influences covered, then by the fewest cases, the fewest rewrites, and the least surplus.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any

from bayeslearn import validation
from bayeslearn.cases.answers import Design, Designs
from bayeslearn.cases.case import Case, specification
from bayeslearn.cases.covering import Cover, cover
from bayeslearn.cases.finding import find
from bayeslearn.cases.graph import FunctionGraph
from bayeslearn.cases.matching import isomorphic
from bayeslearn.cases.rules import EXPANSIONS, Rewrite, Rule, rewrites
from bayeslearn.cases.using import agreeing, opposes, partial_uses, uses_of
from bayeslearn.cases.watching import SearchStep, Watch
from bayeslearn.errors import EmptyTableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bayeslearn.cases.base import CaseBase
    from bayeslearn.cases.graph import Arc
    from bayeslearn.cases.using import Use

#: Near cases that are named for what is left open, and cases used in part from the start.
MOST_NEAR, MOST_PARTIAL = 3, 8

#: How often a case is looked for that covers some of the rest, and among how many.
MOST_TURNS, MOST_LOOKS = 12, 12


@dataclass(frozen=True)
class State:
    """A function as rewritten so far.

    `origins` are the influences, as bits, that each of its arcs comes from; `uses` were found for it before the last
    rewrite, and hold for all arcs but those that are `new` since.
    """

    graph: FunctionGraph
    origins: dict[Arc, int]
    steps: tuple[Rewrite, ...] = ()
    uses: tuple[Use, ...] = ()
    new: tuple[Arc, ...] | None = None

    def after(self, step: Rewrite, graph: FunctionGraph, uses: tuple[Use, ...]) -> State:
        """The state after one more rewrite: what came stands for all that was there."""
        there = 0
        for arc in step.before:
            there |= self.origins[arc]
        origins = {arc: self.origins.get(arc, 0) | (there if arc in step.after else 0) for arc in graph.arcs}
        new = tuple(arc for arc in step.after if arc not in self.origins)
        return State(graph, origins, (*self.steps, step), uses, new)


def design(
    base: CaseBase,
    spec: Any,
    *,
    rules: Iterable[Rule] | None = None,
    max_rewrites: int = 4,
    max_states: int = 100,
    whole: bool = False,
    most: int = 3,
    time_limit: float | None = None,
    progress: Callable[[SearchStep], object] | None = None,
) -> Designs:
    """Designs for a specification, the best first.

    Parameters
    ----------
    base
        The cases; those without a structure are not used.
    spec
        A case, a function graph, or statements such as ``"Qc, Qh ->+ Qm"``.
    rules
        What may rewrite the specification; :data:`EXPANSIONS` and the rules of the base when not said.
    max_rewrites, max_states
        How often a specification is rewritten, and how many forms of it are looked at, at most.
    whole
        Use a case only if each of its arcs is asked for.
    most
        How many designs to return at most.
    time_limit
        Seconds; the best so far is returned when they are over.
    progress
        Called with every :class:`~bayeslearn.cases.watching.SearchStep`; raising StopIteration ends the search with the
        best so far.
    """
    validation.integer("max_rewrites", max_rewrites, least=0)
    validation.integer("max_states", max_states, least=1)
    validation.integer("most", most, least=1)
    asked = specification(spec)
    if not base.cases:
        raise EmptyTableError("the case base holds no case with a structure", hint="add cases to it")
    rules = (*EXPANSIONS, *base.rules) if rules is None else tuple(rules)
    search = _Search(base, asked, rules, max_rewrites, max_states, Watch(time_limit, progress), whole=whole)
    found = search.run()
    ranked = _distinct(sorted(found, key=lambda design: design.rank))[:most]
    left = ranked[0].left_open
    near = (
        find(base, Case(asked.name, asked.function.part(left), None, asked.attributes), most=MOST_NEAR) if left else ()
    )
    return Designs(asked, tuple(ranked), len(found), search.why, tuple(near))


class _Search:
    def __init__(
        self, base: CaseBase, asked: Case, rules: tuple[Rule, ...], max_rewrites: int, max_states: int, watch: Watch,
        *, whole: bool,
    ) -> None:  # fmt: skip
        self.base, self.asked, self.rules = base, asked, rules
        self.max_rewrites, self.max_states, self.watch, self.whole = max_rewrites, max_states, watch, whole
        self.seen: dict[str, list[FunctionGraph]] = {}
        #: What ended the search before everything was tried.
        self.why: str | None = None

    def run(self) -> list[Design]:
        """All designs on the way to the first that leaves nothing open."""
        graph = self.asked.function
        start = State(graph, {arc: 1 << i for i, arc in enumerate(graph.arcs)})
        self.is_new(graph)
        waiting: list[tuple[Any, int, State]] = [((), 0, start)]
        found: list[Design] = []
        fewest, order = len(graph), count(1)
        while waiting:
            if len(found) == self.max_states:
                self.why = f"the bound of {self.max_states} rewritten forms was met"
                break
            state = heappop(waiting)[2]
            covered, uses = self.covered(state)
            found.append(made(self.asked, state, covered))
            fewest = min(fewest, covered.cost[0])
            if fewest == 0 or self.watch.stops(SearchStep(len(found), self.max_states, len(graph) - fewest)):
                self.why = self.watch.why
                break
            for priority, child in self.children(state, covered, uses):
                heappush(waiting, (priority, next(order), child))
        return found

    def covered(self, state: State) -> tuple[Cover, tuple[Use, ...]]:
        """The best uses for a state: the best set, and then whatever covers a part of the rest; and all there were."""
        graph, inner = state.graph, self.watch.inner()
        uses, complete = uses_of(self.base, graph, inner, (*state.uses, *self.partial(state, inner)), state.new)
        origins = [state.origins[arc] for arc in graph.arcs]
        best = cover(graph, uses, origins)
        more = () if self.whole else tuple(self.completed(graph, best.uses, inner))
        certain = best.certain and complete
        if more:
            best = cover(graph, (*best.uses, *more), origins)
        return Cover(best.uses, best.cost, certain and best.certain), (*uses, *more)

    def partial(self, state: State, watch: Watch) -> Iterator[Use]:
        """Cases that do a part of what is asked for, and more; what was rewritten inherits them."""
        if state.new is None and not self.whole:
            yield from partial_uses(self.base, state.graph, MOST_PARTIAL, watch)

    def completed(self, graph: FunctionGraph, uses: tuple[Use, ...], watch: Watch) -> Iterator[Use]:
        """Uses for arcs that no use covers yet, one after the other."""
        told: dict[str, str] = {}
        for use in uses:
            told |= use.tells(graph)
        left = set(graph.arcs).difference(*(use.covered for use in uses))
        for _ in range(MOST_TURNS):
            if not left or watch.over():
                return
            near = partial_uses(self.base, graph.part(sorted(left)), MOST_NEAR, watch, MOST_LOOKS)
            found = next((u for u in near if agreeing(told, u.tells(graph)) and not opposes(u, graph)), None)
            if found is None:
                return
            told |= found.tells(graph)
            left -= set(found.covered)
            yield found

    def children(self, state: State, covered: Cover, uses: tuple[Use, ...]) -> Iterator[tuple[Any, State]]:
        """What one more rewrite makes of a state; those that change what is left open come first."""
        done = {arc for use in covered.uses for arc in use.covered}
        for rule in self.rules:
            for step, graph in rewrites(rule, state.graph):
                if len(state.steps) == self.max_rewrites:
                    self.why = f"the bound of {self.max_rewrites} rewrites was met"
                    return
                if self.is_new(graph):
                    child = state.after(step, graph, uses)
                    idle = done.issuperset(step.before)
                    yield (*covered.cost[:2], idle, len(child.steps), covered.cost[2:]), child

    def is_new(self, graph: FunctionGraph) -> bool:
        """Whether no graph that differs in names only was seen before; it is now."""
        alike = self.seen.setdefault(graph.fingerprint, [])
        if any(isomorphic(graph, other) for other in alike):
            return False
        alike.append(graph)
        return True


def made(asked: Case, state: State, covered: Cover) -> Design:
    """The design that uses and rewrites amount to, without uses for influences that stay open all the same."""
    done = {arc for use in covered.uses for arc in use.covered}
    rest = tuple(arc for arc in state.graph.arcs if arc not in done)
    bits = 0
    for arc in rest:
        bits |= state.origins[arc]
    left = tuple(arc for i, arc in enumerate(asked.function.arcs) if bits >> i & 1)
    uses = tuple(use for use in covered.uses if any(state.origins[arc] & ~bits for arc in use.covered))
    kinds = dict(state.graph.kinds)
    for use in uses:
        kinds |= use.tells(state.graph)
    return Design(asked, FunctionGraph(state.graph.arcs, kinds), state.steps, uses, left, rest, covered.certain)


def _distinct(designs: list[Design]) -> list[Design]:
    """Without those that use the same cases for the same as a better one."""
    found: dict[Any, Design] = {}
    for one in designs:
        found.setdefault(tuple((use.case.name, tuple(use.mapping.items())) for use in one.uses), one)
    return list(found.values())
