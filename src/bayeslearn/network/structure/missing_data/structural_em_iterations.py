"""Turn by turn from one graph to a better one, on rows with missing values; see :mod:`.structural_em`.

Iterations are timed, so that none is begun that would end after the deadline.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import xlogy

from bayeslearn.errors import ParameterError, listed, option
from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.parameters.fit import uniform
from bayeslearn.network.structure.algorithms import find
from bayeslearn.network.structure.results import graph, tables_of
from bayeslearn.network.structure.score_based.hill_climbing import TIE, closure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.dag import DAG
    from bayeslearn.network.structure.missing_data.incomplete_rows import IncompleteRows
    from bayeslearn.network.structure.scoring.criteria import ScoreCache, StructureScore
    from bayeslearn.network.structure.search_settings import Allowed, Budget, SearchSettings
    from bayeslearn.progress import Progress

    Arcs = NDArray[np.bool_]


@dataclass
class IterationCost:
    """Seconds that a part took; nothing is known of what was not done yet."""

    #: Completing the rows under a network.
    completion: float = 0.0
    #: One iteration of EM, and what goes before the first.
    iteration: float = 0.0
    opening: float = 0.0
    #: When the present fit began, and when its last iteration ended.
    _begin: float = 0.0
    _last: float | None = None

    @property
    def fitting(self) -> float:
        """The least that fitting tables takes: what goes before EM, and one iteration."""
        return self.opening + self.iteration

    @property
    def turn(self) -> float:
        """The least that a turn takes; the search in it ends when it must."""
        return self.completion + self.fitting

    def of_rows(self, times: float) -> IterationCost:
        """What to expect of this many times as many rows."""
        return IterationCost(times * self.completion, times * self.iteration, times * self.opening)

    @contextmanager
    def completing(self) -> Iterator[None]:
        """Around a completion."""
        begin = time.monotonic()
        yield
        self.completion = max(self.completion, time.monotonic() - begin)  # one that is remembered takes no time

    @contextmanager
    def fitting_tables(self) -> Iterator[None]:
        """Around a fit of tables."""
        self._begin, self._last = time.monotonic(), None
        yield
        if self._last is None:  # complete rows are counted, without an iteration
            self.opening = time.monotonic() - self._begin

    def step(self) -> None:
        """After every iteration of EM, the first of which only reads the rows."""
        now = time.monotonic()
        if self._last is None:
            self.opening = now - self._begin
        else:
            self.iteration = now - self._last
        self._last = now


#: Iterations of EM for a graph that is on its way, and for one that may be the last.
FEW, MANY = 10, 500

#: Nats a row that an iteration of EM must gain to go on where rows are very many: a parameter costs far more in total.
SLIGHT = 1e-6

#: The prior of tables counted from draws, where EM begins: what was never drawn is not impossible.
SOME = "m:1"


@dataclass(frozen=True)
class Turn:
    """One graph on the way."""

    iteration: int
    #: score(G : D), on the observed values of the rows.
    score: float
    log_likelihood: float
    arcs: int
    #: Arcs that came or went; one that turned did both.
    changed: int
    #: What the search gained on the expected counts of the graph before.
    gain: float


@dataclass(frozen=True)
class Standing:
    """A graph with its tables, and what it is worth."""

    arcs: Arcs
    network: BayesianNetwork
    score: float

    def is_alone(self, v: int) -> bool:
        """Whether a variable is joined to nothing."""
        return not (self.arcs[v].any() or self.arcs[:, v].any())

    def turn(self, iteration: int, before: Arcs, gain: float) -> Turn:
        """What is remembered of it."""
        changed = int((self.arcs != before).sum())
        return Turn(iteration, self.score, self.network.fit_info.log_likelihood, int(self.arcs.sum()), changed, gain)


@dataclass(frozen=True)
class Iterations:
    """What stays the same from graph to graph; the columns of the rows are the variables, sorted by name."""

    rows: IncompleteRows
    hidden: tuple[str, ...]
    settings: SearchSettings
    tol: float
    max_iter: int
    seed: int
    #: Whether a search that takes longer has the last word.
    polish: bool = False
    #: How long completing the rows and fitting tables to them takes.
    pace: IterationCost = field(default_factory=IterationCost)

    def without_hidden(self) -> Iterations:
        """The same for the variables that rows show."""
        names = [name for name in self.names if name not in self.hidden]
        rows = self.rows.coded(self.rows.table.schema.select(names), draws=self.rows.draws, seed=self.seed)
        return replace(self, rows=rows, hidden=(), settings=self.settings.without(self.hidden))

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self.rows.table.schema.names

    @property
    def budget(self) -> Budget:
        """That of the settings."""
        return self.settings.budget

    @cached_property
    def allowed(self) -> Allowed:
        """The knowledge by position."""
        return self.settings.knowledge.of(self.names)

    # -- graphs

    def turns(self, present: Standing) -> tuple[Standing, tuple[Turn, ...], bool]:
        """Graph after graph, each better than the one before: the last, the way to it, and whether it is the end."""
        history = [present.turn(0, present.arcs, 0.0)]
        quick = True
        while len(history) <= self.max_iter and self.affords_turn():
            with self.pace.completing():
                cache = self.rows.expected(present.network, self.settings.criterion)
            budget = self.budget.reserve(self.pace.fitting)
            arcs, gain = self.better(cache, present.arcs, budget, quick=quick)
            same, found = arcs is present.arcs, present
            if not (same and (present.network.fit_info.converged or self.rows.many)):
                found = self.settled(present) if same else self.moved(arcs, cache, present.score)
                history.append(found.turn(len(history), present.arcs, gain))
            self.budget.stopped |= budget.stopped
            if found.score > present.score + TIE * (1 + abs(present.score)):
                present = found
            elif quick and self.polish and not self.budget.reached():
                quick = False
            else:
                return present, tuple(history), not self.budget.reached()
        return present, tuple(history), False

    def affords_turn(self) -> bool:
        """Whether there is time for another turn, by how long its parts took that nothing cuts short."""
        return not self.budget.reached() and self.budget.left() >= self.pace.turn

    def better(self, cache: ScoreCache, arcs: Arcs, budget: Budget, *, quick: bool) -> tuple[Arcs, float]:
        """What a search makes of a graph on expected counts, and its gain there; the graph itself if none."""
        found = find(self.settings.with_budget(budget), cache, arcs if quick else None).arcs
        before, after = cache.settled(lambda: (cache.graph(arcs), cache.graph(found)), budget)
        gain = after - before
        return (found, gain) if gain > TIE * (1 + abs(before)) else (arcs, 0.0)

    def moved(self, arcs: Arcs, cache: ScoreCache, score: float) -> Standing:
        """Another graph: tables by the same expected counts, then EM, for longer if it seems no better."""
        counted = tables_of(cache.counts, arcs, self.settings.prior if self.rows.exact else SOME)
        found = self.fitted(counted, arcs, FEW)
        return found if found.score > score else self.settled(found)

    def settled(self, present: Standing) -> Standing:
        """The same graph with EM run to its end."""
        return self.fitted(present.network, present.arcs, self.long)

    @property
    def long(self) -> int:
        """Iterations of EM for a graph that may be the last; of very many rows the last alone goes on for longer."""
        return FEW if self.rows.many else MANY

    # -- tables

    def until(self, most: int) -> Callable[[Progress], None]:
        """For EM: no more than this many iterations, nor one that would end too late."""

        def progress(now: Progress) -> None:
            self.pace.step()
            if now.detail.iteration >= most or self.budget.reached() or self.budget.left() < self.pace.iteration:
                raise StopIteration

        return progress

    def first(self, start: BayesianNetwork | DAG | None, n_init: int) -> Standing:
        """Tables for the graph to begin with; those around hidden variables from several random starts."""
        hidden = [self.names.index(name) for name in self.hidden]
        arcs = above_all(self.allowed, hidden) if start is None else self.arcs_of(start)
        if isinstance(start, BayesianNetwork):
            return self.fitted(self.frame(arcs), arcs, self.long, init=start)
        return self.fitted(self.frame(arcs), arcs, self.long, init="prior", n_init=n_init if hidden else 1)

    def beside(self, shown: DAG) -> Standing | None:
        """Hidden variables alone next to a graph of what is shown; None where they are required to be joined to it."""
        arcs = by_position(shown, self.names)
        if (self.allowed.required & ~arcs).any():
            return None
        return self.fitted(self.frame(arcs), arcs, MANY, init="prior")

    def fitted(self, frame: BayesianNetwork, arcs: Arcs, most: int, **options: Any) -> Standing:
        """Run this many iterations of EM, from where the tables stand by default."""
        given: dict[str, Any] = {"init": frame, "max_iter": MANY + 1, "progress": self.until(most)} | options
        rows, prior = self.rows, self.settings.prior
        tol = max(self.tol, SLIGHT * rows.total) if rows.many else self.tol
        with self.pace.fitting_tables():
            network = rows.fit(frame, prior=prior, hidden=self.hidden, tol=tol, random_state=self.seed, **given)
        score = observed_score(self.settings.criterion, network, network.fit_info.log_likelihood, rows.total)
        return Standing(arcs, network, score)

    def frame(self, arcs: Arcs) -> BayesianNetwork:
        """A graph with even tables."""
        return uniform(graph(self.names, arcs), {v.name: v for v in self.rows.table.schema})

    def arcs_of(self, start: BayesianNetwork | DAG) -> Arcs:
        """The arcs of a graph that was given, once it is seen to agree with what is known."""
        dag = start.dag if isinstance(start, BayesianNetwork) else start
        names, allowed = self.names, self.allowed
        odd = sorted(set(dag) ^ set(names))
        if odd:
            raise ParameterError(
                f"the graph to start from and the table differ in {listed(odd)}",
                hint=f"the variables are {listed(names)}",
            )
        arcs = by_position(dag, names)
        wrong = np.argwhere((arcs & ~allowed.arcs) | (allowed.required & ~arcs)).tolist()
        if wrong:
            c, x = (names[i] for i in wrong[0])
            raise ParameterError(
                f"the graph to start from goes against what is known of {c} -> {x}",
                hint="start from a graph with the required arcs and without forbidden ones",
            )
        crowded = np.flatnonzero(arcs.sum(axis=0) > allowed.max_parents)
        if len(crowded):
            raise ParameterError(
                f"{names[crowded[0]]!r} starts with more parents than {allowed.max_parents}",
                hint=f"raise {option('max_parents')}, or start from a graph with fewer arcs",
            )
        return arcs


def by_position(dag: DAG, names: Sequence[str]) -> Arcs:
    """arcs[c, x] of a graph over some of these variables."""
    arcs = np.zeros(2 * [len(names)], np.bool_)
    for c, x in dag.arcs:
        arcs[names.index(c), names.index(x)] = True
    return arcs


def above_all(allowed: Allowed, hidden: list[int]) -> Arcs:
    """What is required, and each hidden variable above everything that is shown, as far as that is allowed."""
    arcs = allowed.required.copy()
    for h in hidden:
        for x in np.flatnonzero(allowed.arcs[h]).tolist():
            if x not in hidden and arcs[:, x].sum() < allowed.max_parents and not closure(arcs)[x, h]:
                arcs[h, x] = True
    return arcs


def observed_score(score: StructureScore, network: BayesianNetwork, log_likelihood: float, total: float) -> float:
    """score(G : n) + ln P(D | θ) − Σ n ln θ."""
    tables = [(cpt.observed_counts.n, cpt.probabilities) for cpt in network]
    return log_likelihood + float(sum(score.family(n, total) - xlogy(n, p).sum() for n, p in tables))
