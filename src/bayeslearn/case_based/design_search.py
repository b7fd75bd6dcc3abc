"""Search for designs: cases that together do what a specification asks for, if need be after it is rewritten.

Best first: a specification is covered by cases; while an influence is uncovered, rules rewrite the function, uncovered
arcs first, and the result is covered again. Functions that differ in names only are examined once. The search ends with
the first design that covers everything, or at a limit, and reports which.

Designs are ranked by the influences covered, then by the fewest cases, the fewest rewrites, and the fewest extra arcs.
A cover is a choice among the ways to use cases:

    minimize  (uncovered influences, uncovered arcs, cases, extra arcs)        in this order

where no quantity may be of two kinds. Arcs are decided one by one, the one with the fewest uses first; branches that
cannot improve on the best are skipped. The result is exact unless the limit on work ends the search.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from bayeslearn import validation
from bayeslearn.case_based.designs import Design, Designs, agreeing, opposes, partial_uses, uses_of
from bayeslearn.case_based.function_graph import Case, FunctionGraph, specification
from bayeslearn.case_based.retrieval import SearchProgress, Watch, retrieve
from bayeslearn.case_based.rewrite_rules import CONTRACTIONS, EXPANSIONS, Rewrite, Rule, rewrites
from bayeslearn.case_based.subgraph_matching import isomorphic
from bayeslearn.errors import EmptyTableError
from bayeslearn.progress import reports_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayeslearn.case_based.designs import CaseUse

    Cost = tuple[int, int, int, int]
    from collections.abc import Iterable, Iterator

    from bayeslearn.case_based.case_base import CaseBase
    from bayeslearn.case_based.function_graph import Arc

### covers


#: The most uses and arcs that one search examines.
MAX_WORK = 400_000


@dataclass(frozen=True)
class Cover:
    """A set of uses, its cost, and whether no set is better."""

    uses: tuple[CaseUse, ...]
    cost: Cost
    is_optimal: bool


def cover(graph: FunctionGraph, uses: Sequence[CaseUse], origins: Sequence[int]) -> Cover:
    """The best set of uses; `origins` are the influences of each arc of the graph, as bits."""
    number = {arc: i for i, arc in enumerate(graph.arcs)}
    masks = [sum(1 << number[arc] for arc in use.covered) for use in uses]
    search = _CoverSearch(masks, [use.added_kinds(graph) for use in uses], [len(use.extra) for use in uses], origins)
    search.go((1 << len(graph)) - 1, list(range(len(uses))), {}, (), 0)
    chosen = tuple(sorted((uses[i] for i in search.best), key=lambda use: (use.covered, use.rank)))
    return Cover(chosen, search.cost, search.work <= MAX_WORK)


@dataclass
class _CoverSearch:
    masks: list[int]
    added: list[dict[str, str]]
    extra: list[int]
    origins: Sequence[int]
    work: int = 0
    best: tuple[int, ...] = ()
    cost: Cost = field(init=False)

    def __post_init__(self) -> None:
        self.bits = [_bits(mask) for mask in self.masks]
        self.cost = self._cost((1 << len(self.origins)) - 1, ())

    def _cost(self, left: int, chosen: tuple[int, ...], more: int = 0) -> Cost:
        """The cost if these arcs are uncovered and at least `more` uses are added."""
        origins = 0
        for i, origin in enumerate(self.origins):
            if left >> i & 1:
                origins |= origin
        return origins.bit_count(), left.bit_count(), len(chosen) + more, sum(self.extra[i] for i in chosen)

    def go(self, undecided: int, able: list[int], kinds: dict[str, str], chosen: tuple[int, ...], left: int) -> None:
        """Cover the undecided arcs with the uses that are able; `left` are uncovered."""
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
        for i in sorted(takers, key=lambda i: (-(self.masks[i] & undecided).bit_count(), self.extra[i], i)):
            known = kinds | self.added[i]
            still = [j for j in able if j != i and self.masks[j] & undecided & ~self.masks[i]]
            still = [j for j in still if agreeing(known, self.added[j])]
            self.go(undecided & ~self.masks[i], still, known, (*chosen, i), left)
        self.go(undecided & ~(1 << arc), [i for i in able if i not in takers], kinds, chosen, left | 1 << arc)

    def tired(self) -> bool:
        """Whether the limit on work is reached, once there is an answer."""
        return bool(self.best) and self.work > MAX_WORK

    def hardest(self, undecided: int, able: list[int]) -> int:
        """The arc that the fewest uses cover."""
        takers = Counter(chain.from_iterable(map(self.bits.__getitem__, able)))
        return min((arc for arc in takers if undecided >> arc & 1), key=lambda arc: (takers[arc], arc))


def _bits(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


### the search


#: Near cases that are returned for uncovered influences, and cases that are used in part from the start.
MAX_NEAR, MAX_PARTIAL = 3, 8

#: The most cases that are added for uncovered arcs, and candidates for each.
MAX_TURNS, MAX_LOOKS = 12, 12


@dataclass(frozen=True)
class State:
    """A rewritten function.

    `origins` are the influences, as bits, that each of its arcs comes from; `uses` were found for it before the last
    rewrite, and hold for all arcs but those that are `new` since.
    """

    graph: FunctionGraph
    origins: dict[Arc, int]
    steps: tuple[Rewrite, ...] = ()
    uses: tuple[CaseUse, ...] = ()
    new: tuple[Arc, ...] | None = None

    def after(self, step: Rewrite, graph: FunctionGraph, uses: tuple[CaseUse, ...]) -> State:
        """The state after one more rewrite: its new arcs have the origins of all that it replaced."""
        there = 0
        for arc in step.before:
            there |= self.origins[arc]
        origins = {arc: self.origins.get(arc, 0) | (there if arc in step.after else 0) for arc in graph.arcs}
        new = tuple(arc for arc in step.after if arc not in self.origins)
        return State(graph, origins, (*self.steps, step), uses, new)


@reports_progress("Designing")
def design(
    base: CaseBase,
    spec: Any,
    *,
    rules: Iterable[Rule] | None = None,
    max_rewrites: int = 4,
    max_states: int = 100,
    whole: bool = False,
    allow_contractions: bool = False,
    max_results: int = 3,
    time_limit: float | None = None,
    progress: Any = None,
) -> Designs:
    """Return designs for a specification, the best first.

    Parameters
    ----------
    base
        The cases; those without a structure are not used.
    spec
        A case, a function graph, or statements such as ``"Qc, Qh ->+ Qm"``.
    rules
        The rules that rewrite the specification; :data:`EXPANSIONS` and the rules of the base by default.
    max_rewrites, max_states
        The largest number of rewrites, 4 by default, and of rewritten forms that are examined, 100 by default.
    whole
        Whether cases are used only if each of their arcs is in the specification.
    allow_contractions
        Whether a quantity between two others may be removed, too (:data:`CONTRACTIONS`); only without `rules`.
    max_results
        The largest number of designs, 3 by default.
    time_limit
        Seconds, after which the search returns its best designs.
    progress
        True for a progress bar, or a function of :class:`~bayeslearn.progress.Progress` with a
        :class:`SearchProgress` as `detail`; if it raises StopIteration, the search returns its best designs.
    """
    validation.integer("max_rewrites", max_rewrites, min_value=0)
    validation.integer("max_states", max_states, min_value=1)
    validation.integer("max_results", max_results, min_value=1)
    asked = specification(spec)
    if not base.cases:
        raise EmptyTableError("the case base holds no case with a structure", hint="add cases to it")
    contractions = CONTRACTIONS if allow_contractions else ()
    rules = (*EXPANSIONS, *contractions, *base.rules) if rules is None else tuple(rules)
    search = _Search(base, asked, rules, max_rewrites, max_states, Watch(time_limit, progress), whole=whole)
    found = search.run()
    ranked = _distinct(sorted(found, key=lambda design: design.rank))[:max_results]
    left = ranked[0].uncovered
    near = (
        retrieve(base, Case(asked.name, asked.function.part(left), None, asked.attributes), max_results=MAX_NEAR)
        if left
        else ()
    )
    return Designs(asked, tuple(ranked), len(found), search.stop_reason, tuple(near))


class _Search:
    def __init__(
        self, base: CaseBase, asked: Case, rules: tuple[Rule, ...], max_rewrites: int, max_states: int, watch: Watch,
        *, whole: bool,
    ) -> None:  # fmt: skip
        self.base, self.asked, self.rules = base, asked, rules
        self.max_rewrites, self.max_states, self.watch, self.whole = max_rewrites, max_states, watch, whole
        self.seen: dict[str, list[FunctionGraph]] = {}
        #: Why the search ended early.
        self.stop_reason: str | None = None

    def run(self) -> list[Design]:
        """All designs on the way to the first that covers everything."""
        graph = self.asked.function
        start = State(graph, {arc: 1 << i for i, arc in enumerate(graph.arcs)})
        self.is_new(graph)
        waiting: list[tuple[Any, int, State]] = [((), 0, start)]
        found: list[Design] = []
        fewest, order = len(graph), count(1)
        while waiting:
            if len(found) == self.max_states:
                self.stop_reason = f"the bound of {self.max_states} rewritten forms was reached"
                break
            state = heappop(waiting)[2]
            covered, uses = self.covered(state)
            found.append(made(self.asked, state, covered))
            fewest = min(fewest, covered.cost[0])
            if fewest == 0 or self.watch.stops(SearchProgress(len(found), self.max_states, len(graph) - fewest)):
                self.stop_reason = self.watch.stop_reason
                break
            for priority, child in self.children(state, covered, uses):
                heappush(waiting, (priority, next(order), child))
        return found

    def covered(self, state: State) -> tuple[Cover, tuple[CaseUse, ...]]:
        """The best uses for a state: the best set, and then whatever covers a part of the rest; and all there were."""
        graph, inner = state.graph, self.watch.inner()
        uses, complete = uses_of(self.base, graph, inner, (*state.uses, *self.partial(state, inner)), state.new)
        origins = [state.origins[arc] for arc in graph.arcs]
        best = cover(graph, uses, origins)
        more = () if self.whole else tuple(self.completed(graph, best.uses, inner))
        is_optimal = best.is_optimal and complete
        if more:
            best = cover(graph, (*best.uses, *more), origins)
        return Cover(best.uses, best.cost, is_optimal and best.is_optimal), (*uses, *more)

    def partial(self, state: State, watch: Watch) -> Iterator[CaseUse]:
        """Cases that do a part of what is asked for, and more; what was rewritten inherits them."""
        if state.new is None and not self.whole:
            yield from partial_uses(self.base, state.graph, MAX_PARTIAL, watch)

    def completed(self, graph: FunctionGraph, uses: tuple[CaseUse, ...], watch: Watch) -> Iterator[CaseUse]:
        """Uses for arcs that no use covers yet, one after the other."""
        known: dict[str, str] = {}
        for use in uses:
            known |= use.added_kinds(graph)
        left = set(graph.arcs).difference(*(use.covered for use in uses))
        for _ in range(MAX_TURNS):
            if not left or watch.over():
                return
            near = partial_uses(self.base, graph.part(sorted(left)), MAX_NEAR, watch, MAX_LOOKS)
            found = next((u for u in near if agreeing(known, u.added_kinds(graph)) and not opposes(u, graph)), None)
            if found is None:
                return
            known |= found.added_kinds(graph)
            left -= set(found.covered)
            yield found

    def children(self, state: State, covered: Cover, uses: tuple[CaseUse, ...]) -> Iterator[tuple[Any, State]]:
        """What one more rewrite makes of a state; those that change what is left open come first."""
        done = {arc for use in covered.uses for arc in use.covered}
        for rule in self.rules:
            for step, graph in rewrites(rule, state.graph):
                if len(state.steps) == self.max_rewrites:
                    self.stop_reason = f"the bound of {self.max_rewrites} rewrites was reached"
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
        kinds |= use.added_kinds(state.graph)
    return Design(asked, FunctionGraph(state.graph.arcs, kinds), state.steps, uses, left, rest, covered.is_optimal)


def _distinct(designs: list[Design]) -> list[Design]:
    """Without those that use the same cases for the same as a better one."""
    found: dict[Any, Design] = {}
    for one in designs:
        found.setdefault(tuple((use.case.name, tuple(use.mapping.items())) for use in one.uses), one)
    return list(found.values())
