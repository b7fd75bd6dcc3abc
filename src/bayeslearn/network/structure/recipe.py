"""What was asked for, and how it is done on counts, on rows with holes, and on resamples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import ParameterError, UnknownColumnError, listed
from bayeslearn.network.structure.counting.cache import ScoreCache
from bayeslearn.network.structure.counting.counts import FamilyCounts
from bayeslearn.network.structure.counting.scores import Score
from bayeslearn.network.structure.doubt.bootstrap import arc_strengths
from bayeslearn.network.structure.holes.incomplete import structural_em
from bayeslearn.network.structure.holes.shown import Near
from bayeslearn.network.structure.holes.turns import observed_score
from bayeslearn.network.structure.limits import Limits
from bayeslearn.network.structure.methods import FEW, METHODS, Task, find
from bayeslearn.network.structure.searching.climbing import TIE
from bayeslearn.network.structure.searching.simple import naive
from bayeslearn.network.structure.tables import graph

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.network.graph import Dag
    from bayeslearn.network.learning.priors import Prior
    from bayeslearn.network.structure.doubt.bootstrap import ArcStrengths
    from bayeslearn.network.structure.holes.incomplete import StructuralEm
    from bayeslearn.network.structure.holes.shown import Far
    from bayeslearn.network.structure.knowledge import Knowledge
    from bayeslearn.network.structure.methods import Found
    from bayeslearn.network.structure.searching.climbing import Structure
    from bayeslearn.tables import Table

#: What a tree, alone or below a target, is the best of its form by.
LOGLIK = Score("loglik")


@dataclass(frozen=True)
class Recipe:
    """Everything but the data."""

    method: str
    score: Score
    knowledge: Knowledge
    prior: Prior
    limits: Limits
    target: str | None = None
    order: tuple[str, ...] | None = None
    alpha: float = 0.05
    test: str = "g2"
    restarts: int = 0
    seed: int = 0

    def task(self, names: Sequence[str], limits: Limits, start: NDArray[np.bool_] | None = None) -> Task:
        """The same by position, for columns in some order."""
        order = None if self.order is None else tuple(positions("order", self.order, names))
        if order is not None and sorted(order) != list(range(len(names))):
            left = [name for name in names if name not in (self.order or ())]
            raise ParameterError(
                f"the order must name every variable once, {listed(left) or 'some'} is not so",
                hint="list all variables, each of them once",
            )
        target = None if self.target is None else positions("target", [self.target], names)[0]
        allowed = self.knowledge.of(names)
        return Task(allowed, limits, start, order, target, self.alpha, self.test, self.restarts, self.seed)

    @property
    def directs(self) -> bool:
        """Whether arcs are directed by more than the rows: by knowledge, by an order, or around a target."""
        return self.knowledge.directs or METHODS[self.method].needs is not None

    # -- three kinds of data

    def dag(self, table: Table) -> Dag:
        """The graph that rows suggest, with holes or without."""
        if (table.codes < 0).any():
            return self.on_holes(Near(table), {}).dag
        return graph(table.schema.names, self.on_counts(ScoreCache(FamilyCounts(table), self.score)).arcs)

    def on_counts(self, cache: ScoreCache) -> Found:
        """The structure that counts suggest."""
        return find(self.method, cache, self.task(cache.counts.names, self.limits))

    def on_holes(self, rows: Near | Far, hidden: Mapping[str, int | Iterable[Any]]) -> StructuralEm:
        """The structure and tables that expected counts suggest."""

        def search(structure: Structure, limits: Limits) -> NDArray[np.bool_]:
            return self.turned(structure.cache, limits, structure.arcs)

        def polish(structure: Structure, limits: Limits) -> NDArray[np.bool_]:
            return self.turned(structure.cache, limits, None)

        fixed = not (METHODS[self.method].knows or hidden)  # a form that is taken whether the score rises or not
        found = structural_em(
            rows, score=LOGLIK if fixed else self.score, knowledge=self.knowledge, search=search,
            polish=polish if self.polishes(rows.table.schema.names, hidden) else None, hidden=hidden, prior=self.prior,
            start=self.form(rows.table.schema.names) if fixed else None, limits=self.limits, rng=self.seed,
        )  # fmt: skip
        return replace(found, score=observed_score(self.score, found, rows.total)) if fixed else found

    def turned(self, cache: ScoreCache, limits: Limits, start: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        """What one turn makes of expected counts, from a graph on, or by the search that takes longer."""
        return find(self.method, cache, self.task(cache.counts.names, limits, start)).arcs

    def polishes(self, *names: Iterable[str]) -> bool:
        """Whether a longer search has the last word where cells are missing."""
        return self.method == "auto" and sum(len(list(some)) for some in names) > FEW

    def form(self, names: Sequence[str]) -> Dag | None:
        """What a form that is built around a target has at least."""
        target = self.task(names, self.limits).target
        if target is None or METHODS[self.method].needs != "target":
            return None
        return graph(names, naive(len(names), target))

    def on_resamples(self, table: Table, rounds: int, *, completed: bool = False) -> ArcStrengths:
        """How often resamples agree on each arc, all searched as the rows were; `completed`: as in a turn of EM."""

        def search(counts: FamilyCounts) -> NDArray[np.bool_] | None:
            quiet, cache = Limits(self.limits.deadline), ScoreCache(counts, self.score)
            known = self.knowledge.of(counts.names).required
            arcs = self.turned(cache, quiet, known if completed else None)
            if completed and self.polishes(counts.names):
                other = self.turned(cache, quiet, None)
                now = cache.graph(arcs)
                arcs = other if cache.graph(other) > now + TIE * (1 + abs(now)) else arcs
            return None if quiet.stopped else arcs

        return arc_strengths(
            table, search, rounds=rounds, rng=self.seed, classes=not self.directs, limits=self.limits,
        )  # fmt: skip


def positions(what: str, wanted: Iterable[str], names: Sequence[str]) -> list[int]:
    """Where names stand."""
    place = {name: i for i, name in enumerate(names)}
    odd = [name for name in wanted if name not in place]
    if odd:
        raise UnknownColumnError(
            f"the {what} names {listed(odd)}, not a variable", hint=f"variables are {listed(names)}", columns=odd
        )
    return [place[name] for name in wanted]
