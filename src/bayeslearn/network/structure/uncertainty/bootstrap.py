"""How sure the arcs of a structure are: the same search on many resamples of the rows.

    strength of a — b       share of the rounds that join a and b
    direction of a → b      of these, the share that joins them as a → b

Directions within an equivalence class mean nothing, so that an edge whose direction the class leaves open counts half
for each way.

    threshold               t̂ = argmin_t ∫₀¹ |F(p) − t| dp,        the strength F⁻¹(t̂)

with F the distribution of the strengths of all pairs: were every pair sure, F would be flat at some t, the share of
pairs that are never joined. F rises, so that its median is F(½), and the threshold is the largest strength up to ½.

The averaged network has the arcs that most resamples agree on. What is required is there. Pairs above the threshold are
joined, the strongest first, each in its more probable direction. An arc that knowledge forbids, that would close a
cycle, or that would be one parent too many is dropped. Pairs whose direction is open, as probable one way as the other,
go the way that knowledge leaves; where it leaves both, they come last, and are directed so that they add no v-structure
where that is possible.

References
----------
Friedman, Goldszmidt and Wyner (1999), Data analysis with Bayesian networks: a bootstrap approach. Scutari and Nagarajan
(2013), Identifying significant edges in graphical models of molecular networks.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.capacity import require_room
from bayeslearn.errors import CycleError, EmptyTableError, ParameterError, ShapeError
from bayeslearn.fit_info import plain, with_fit_info
from bayeslearn.network.parameters.fit import fit_parameters, uniform
from bayeslearn.network.parameters.imputation import impute
from bayeslearn.network.structure.algorithms import FEW, directs, find
from bayeslearn.network.structure.missing_data.structural_em import polishes
from bayeslearn.network.structure.results import arcs_of, graph, log_likelihood_of, tables_of
from bayeslearn.network.structure.score_based.hill_climbing import TIE, class_of, closure, member, order_of, ranks
from bayeslearn.network.structure.scoring.criteria import ScoreCache
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import UNLIMITED, BackgroundKnowledge, Budget
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.inference.results import Backend
    from bayeslearn.network.structure.results import LearnedArc, StructureFitInfo
    from bayeslearn.network.structure.search_settings import Allowed, SearchSettings
    from bayeslearn.tables import Table

    Search = Callable[[FamilyCounts], NDArray[np.bool_] | None]
    Way = tuple[int, int]

#: Rounds that a thread is given at a time.
AT_A_TIME = 4


@dataclass(frozen=True)
class ArcStrength:
    """One pair, in its more probable direction: the other has what is left to 1."""

    parent: str
    child: str
    strength: float
    direction: float


@dataclass(frozen=True, eq=False, repr=False)
class ArcStrengths(Reported):
    """Of every pair how often it is joined, and how often in which direction when it is.

    >>> one_way = np.array([[0, 0.9, 0.3], [0, 0, 0.6], [0, 0, 0]])
    >>> strengths = ArcStrengths(("a", "b", "c"), one_way + one_way.T, (one_way > 0).astype(float), n_samples=10)
    >>> strengths.pairs()[0]
    ArcStrength(parent='a', child='b', strength=0.9, direction=1.0)
    >>> strengths.threshold()
    0.3
    """

    names: tuple[str, ...]
    #: strength[a, b] = strength[b, a]: the share of the rounds that join them.
    strength: NDArray[np.float64]
    #: direction[a, b] + direction[b, a] = 1, or 0 for pairs that are never joined.
    direction: NDArray[np.float64]
    n_samples: int

    def pairs(self) -> list[ArcStrength]:
        """Return every pair that a sample connects: by strength, then by probability of the direction, then by name."""
        rank = ranks(self.names)
        pairs = np.argwhere(np.triu(self.strength) > 0).tolist()
        ways = [max((a, b), (b, a), key=lambda way: (self.direction[way], -rank[way[0]])) for a, b in pairs]
        ways.sort(key=lambda way: (-self.strength[way], -self.direction[way], rank[way[0]], rank[way[1]]))
        return [
            ArcStrength(self.names[c], self.names[x], float(self.strength[c, x]), float(self.direction[c, x]))
            for c, x in ways
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the number of samples and every pair as plain values."""
        return {"n_samples": self.n_samples, "pairs": plain(self.pairs())}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each pair: parent, child, strength, direction."""
        pairs = self.pairs()
        names = [field.name for field in fields(ArcStrength)]
        return frame_of({name: [getattr(pair, name) for pair in pairs] for name in names}, backend)

    def report(self) -> Report:
        """Return every pair that a sample connects, the strongest first."""
        rows = [(pair.parent, pair.child, pair.strength, pair.direction) for pair in self.pairs()]
        title = f"Arc strengths from {self.n_samples:,} bootstrap samples"
        return Report(title, Grid(["Parent", "Child", "Strength", "Direction"], rows))

    def threshold(self) -> float:
        """Pairs with more than this strength are significant."""
        strength = self.strength[np.triu_indices(len(self.names), 1)]
        return float(strength[strength <= 0.5].max(initial=0.0))


@dataclass(frozen=True)
class Resampling:
    """How far the rounds have come."""

    done: int
    rounds: int

    @property
    def share(self) -> float:
        """The share of the samples that is done."""
        return self.done / self.rounds

    def __str__(self) -> str:
        return f"bootstrap sample {self.done} of {self.rounds}"


def arc_strengths(
    table: Table,
    search: Search,
    *,
    rounds: int = 200,
    random_state: np.random.Generator | int | None = None,
    classes: bool = True,
    budget: Budget = UNLIMITED,
) -> ArcStrengths:
    """Strengths from this many resamples, or as many as there is time for.

    A round depends on its number and on `random_state` only, whatever the number of threads; one whose search returns
    None, for it was cut off, does not count. `classes=False` counts the
    directions of the graphs themselves: take it when knowledge or an order directs what data cannot.
    """
    rounds = validation.integer("rounds", rounds, min_value=1)
    require_room(f"{rounds:,} resamples", 2000 * rounds, hint="a few hundred tell how sure an arc is")
    if not table.total_weight:
        raise EmptyTableError("there are no rows to resample", hint="give at least one row with a positive weight")
    names = tuple(v.name for v in table.schema.discrete)
    count, done = np.zeros((len(names), len(names))), 0

    def one(generator: np.random.Generator) -> NDArray[np.float64] | None:
        if budget.reached():
            return None
        arcs = search(FamilyCounts(resampled(table, generator)))
        return None if arcs is None else votes(arcs, len(names), classes=classes)

    generators, step = validation.generator(random_state).spawn(rounds), AT_A_TIME * kernels.thread_count()
    for begin in range(0, rounds, step):
        for found in kernels.parallel(one, generators[begin : begin + step]):
            if found is not None:
                count, done = count + found, done + 1
                budget.report(Resampling(done, rounds))
        if budget.reached():
            break
    return _shares(names, count, done)


def resampled(table: Table, random_state: np.random.Generator) -> Table:
    """As many rows, each drawn from the rows; rows that carry weights are drawn by them, and keep their total."""
    if table.sample_weight is None:
        return table.take(random_state.integers(table.n_rows, size=table.n_rows))
    cases = max(round(table.total_weight), 1)
    times = random_state.multinomial(cases, table.sample_weight / table.total_weight)
    drawn = np.flatnonzero(times)
    return table.take(drawn).with_weights(times[drawn] * (table.total_weight / cases))


def votes(arcs: NDArray[np.bool_], n: int, *, classes: bool) -> NDArray[np.float64]:
    """What one graph implies for every direction; half where its class leaves it open."""
    if np.shape(arcs) != (n, n):
        raise ShapeError(f"the search must return arcs of shape ({n}, {n}), got {np.shape(arcs)}")
    arcs = np.asarray(arcs, np.bool_)
    if len(order_of(arcs)) < n:
        raise CycleError("the search must return a graph without cycles")
    marks = class_of(arcs) if classes else arcs
    return marks / np.maximum(marks + marks.T.astype(np.float64), 1.0)


def _shares(names: tuple[str, ...], count: NDArray[np.float64], rounds: int) -> ArcStrengths:
    both = count + count.T
    return ArcStrengths(names, both / max(rounds, 1), count / np.maximum(both, 0.5), rounds)


@dataclass(frozen=True, eq=False)
class Averaged:
    """The arcs, and those that were left out though strong, with the reason."""

    arcs: NDArray[np.bool_]
    dropped: Mapping[ArcStrength, str]


def averaged(
    strengths: ArcStrengths, threshold: float | None = None, *, sure: float = 0.5, allowed: Allowed | None = None
) -> Averaged:
    """The graph of the arcs stronger than a threshold, by default the one that the strengths themselves suggest.

    Directions of at most the probability `sure` are open.
    """
    least = (
        strengths.threshold()
        if threshold is None
        else validation.number("threshold", threshold, min_value=0, max_value=1)
    )
    sure = validation.number("sure", sure, min_value=0.5, max_value=1)
    place = {name: i for i, name in enumerate(strengths.names)}
    found = _Growing(BackgroundKnowledge().of(strengths.names) if allowed is None else allowed)
    edges: dict[ArcStrength, Way] = {}
    for arc in strengths.pairs():
        a, b = place[arc.parent], place[arc.child]
        if arc.strength <= least or found.joined(a, b):
            continue
        ways = found.possible([(a, b), (b, a)]) if arc.direction <= sure else [(a, b)]
        if len(ways) > 1:
            edges[arc] = a, b
        else:
            found.join(arc, ways or [(a, b)])
    found.join_all(edges, ranks(strengths.names))
    return Averaged(found.arcs, found.dropped)


class _Growing:
    """A graph that keeps to what is known, and what it could not take."""

    def __init__(self, allowed: Allowed) -> None:
        self.allowed, self.arcs = allowed, allowed.required.copy()
        self.dropped: dict[ArcStrength, str] = {}

    def joined(self, a: int, b: int) -> bool:
        """Whether there is an arc between both."""
        return bool(self.arcs[a, b] or self.arcs[b, a])

    def possible(self, ways: Iterable[Way]) -> list[Way]:
        """Those that knowledge leaves."""
        return [way for way in ways if self.allowed.arcs[way]]

    def against(self, way: Way) -> str | None:
        """What contradicts an arc next to the others."""
        c, x = way
        if not self.allowed.arcs[way]:
            return "goes against what is known"
        if closure(self.arcs)[x, c]:
            return "would have closed a cycle"
        return "would have been one parent too many" if self.arcs[:, x].sum() >= self.allowed.max_parents else None

    def join(self, arc: ArcStrength, ways: Iterable[Way]) -> None:
        """An arc, in the first way that nothing contradicts."""
        reasons = {way: self.against(way) for way in ways}
        fine = [way for way, why in reasons.items() if why is None]
        if fine:
            self.arcs[fine[0]] = True
        else:
            self.dropped[arc] = str(next(iter(reasons.values())))

    def join_all(self, edges: Mapping[ArcStrength, Way], rank: NDArray[np.int64]) -> None:
        """Open directions with no further v-structure; when that cannot be, each in a way that can."""
        marks = self.arcs.copy()
        for a, b in edges.values():
            marks[a, b] = marks[b, a] = True
        whole = member(marks, rank)
        if whole is not None and (whole.sum(axis=0) <= self.allowed.max_parents).all():
            self.arcs = whole
            return
        for arc, (a, b) in edges.items():
            self.join(arc, [(a, b), (b, a)])


def with_strengths(
    settings: SearchSettings, network: BayesianNetwork, rounds: int, *, average: bool
) -> BayesianNetwork:
    """The network with the strength of every arc in its fit_info, or the network of the arcs of most resamples."""
    info: StructureFitInfo = network.fit_info
    table, incomplete = info.prepared_data.require_rows("resamples"), info.structural_em is not None
    if incomplete and not info.prepared_data.in_memory:
        raise ParameterError(
            "the rows of a source are not resampled where values are missing: equal rows would be filled alike",
            hint="take the rows into memory first: fit_network(source.table(), bootstrap=...)",
        )
    if incomplete:
        table = impute(network, table, method="sample", random_state=settings.seed)
    strengths = strengths_of(settings, table, rounds, completed=incomplete)
    if not strengths.n_samples:
        without = "the arcs are those of all rows" if average else "arcs have no strengths"
        note = f"no bootstrap sample was searched within the time limit: {without}"
        return with_fit_info(network, replace(info, notes=(*info.notes, note)))
    drawn = [_completed(settings, table)] if incomplete else []
    info = replace(info, strengths=strengths, notes=(*info.notes, *drawn))
    if average:
        network, info = _averaged(settings, info, strengths, FamilyCounts(table))
    return with_fit_info(network, replace(info, arcs=_with_strengths(info.arcs, strengths)))


def strengths_of(settings: SearchSettings, table: Table, rounds: int, *, completed: bool = False) -> ArcStrengths:
    """How often resamples agree on each arc, all searched as the rows were; `completed`: as structural EM does once."""

    def search(counts: FamilyCounts) -> NDArray[np.bool_] | None:
        quiet, cache = Budget(settings.budget.deadline), ScoreCache(counts, settings.criterion)
        within = settings.with_budget(quiet)
        arcs = find(within, cache, settings.knowledge.of(counts.names).required if completed else None).arcs
        if completed and polishes(settings, counts.names):
            other = find(within, cache).arcs
            now = cache.graph(arcs)
            arcs = other if cache.graph(other) > now + TIE * (1 + abs(now)) else arcs
        return None if quiet.stopped else arcs

    classes = not directs(settings)
    return arc_strengths(
        table, search, rounds=rounds, random_state=settings.seed, classes=classes, budget=settings.budget
    )


def _completed(settings: SearchSettings, table: Table) -> str:
    """What resamples are of, and how they were searched."""
    few = len(table.schema.names) <= FEW
    way = settings.algorithm if settings.algorithm != "auto" else "exact" if few else "the better of ges and orders"
    drawn = "strengths are those of one completion of the rows, drawn at random"
    return f"{drawn}; its resamples were searched by {way}, in one turn of structural EM each"


def _averaged(
    settings: SearchSettings, info: StructureFitInfo, strengths: ArcStrengths, counts: FamilyCounts
) -> tuple[BayesianNetwork, StructureFitInfo]:
    """The network of the arcs of most resamples, its parameters fitted to the rows unchanged."""
    agreed = averaged(strengths, allowed=settings.knowledge.of(strengths.names))
    arcs, cache = agreed.arcs, ScoreCache(info.counts or counts, settings.criterion)
    notes = [f"{arc.parent} -> {arc.child} {why} and was dropped" for arc, why in agreed.dropped.items()]
    if info.structural_em is None:
        network = tables_of(cache.counts, arcs, settings.prior)
        log_likelihood = log_likelihood_of(network)
    else:
        known = {cpt.name: cpt.variable for cpt in info.structural_em.network}
        frame = uniform(graph(strengths.names, arcs), known)
        hidden = {name: frame.states(name) for name in frame.variables if name not in info.table.schema.names}
        network = fit_parameters(frame, info.table, prior=settings.prior, hidden=hidden, random_state=settings.seed)
        log_likelihood = network.fit_info.log_likelihood
    kept = arcs_of(network, settings.criterion, cache.counts.total)
    return network, replace(
        info, score=cache.graph(arcs), arcs=kept, n_averaged=strengths.n_samples, notes=(*info.notes, *notes),
        log_likelihood=log_likelihood, _network=network,
    )  # fmt: skip


def _with_strengths(arcs: tuple[LearnedArc, ...], strengths: ArcStrengths) -> tuple[LearnedArc, ...]:
    """The same arcs with their strength and direction, the strongest first."""
    place = {name: i for i, name in enumerate(strengths.names)}
    known = []
    for arc in arcs:
        way = place[arc.parent], place[arc.child]
        known.append(replace(arc, strength=float(strengths.strength[way]), direction=float(strengths.direction[way])))
    return tuple(sorted(known, key=lambda arc: (-(arc.strength or 0), -arc.gain, arc.parent, arc.child)))
