"""From a table, with holes or without, to a network that can be asked: structure first, then its tables.

Complete rows are counted, and everything is read off the counts; with missing cells or hidden variables the counts are
expected ones (structural EM). Counts add, so that more rows of the same table need only be counted themselves.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import CapacityError, ParameterError
from bayeslearn.network.learning.fit import fit_tables, uniform
from bayeslearn.network.learning.impute import impute
from bayeslearn.network.structure.counting.cache import ScoreCache
from bayeslearn.network.structure.counting.counts import FamilyCounts
from bayeslearn.network.structure.counting.scores import Score
from bayeslearn.network.structure.doubt.averaging import averaged
from bayeslearn.network.structure.holes.completions import Completions
from bayeslearn.network.structure.knowledge import Knowledge
from bayeslearn.network.structure.limits import FOREVER, Limits
from bayeslearn.network.structure.methods import METHODS
from bayeslearn.network.structure.preparing import Prepared, prepare
from bayeslearn.network.structure.recipe import Recipe, graph
from bayeslearn.network.structure.sourced.counts import SourceCounts
from bayeslearn.network.structure.sourced.scores import SourceScores
from bayeslearn.sources import is_source
from bayeslearn.tables import Table, as_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from bayeslearn.network.graph import Dag
    from bayeslearn.network.learning.priors import Prior
    from bayeslearn.network.network import BayesianNetwork
    from bayeslearn.network.structure.doubt.bootstrap import ArcStrengths
    from bayeslearn.network.structure.holes.incomplete import StructuralEm
    from bayeslearn.network.structure.testing.constraint import PcResult


#: Resamples when their number is not given.
ROUNDS = 100


@dataclass(frozen=True)
class LearnedArc:
    """One arc, and what speaks for it."""

    parent: str
    child: str
    #: What the score would lose without it.
    gain: float
    #: Of resamples of the rows, the share that joins the two, and of these the share in this direction.
    strength: float | None = None
    direction: float | None = None


@dataclass(frozen=True)
class StructureFit:
    """A network whose structure was learned, and what it rests on."""

    network: BayesianNetwork
    method: str
    scored_by: Score
    #: The score of the structure; of incomplete rows that of what they show.
    score: float
    #: The surest first: by strength where rows were resampled, else by gain.
    arcs: tuple[LearnedArc, ...]
    #: The table that was learned from, and what had to be done for it.
    prepared: Prepared
    seconds: float = 0.0
    #: Whether a limit ended the search, which then is the best until there.
    stopped: bool = False
    strengths: ArcStrengths | None = None
    #: What tests said of every pair, from methods that test.
    tests: PcResult | None = None
    #: The way of structural EM, where cells are missing or variables hidden.
    expectation: StructuralEm | None = None
    #: What was counted of complete rows, for :func:`learn` to go on with.
    counts: FamilyCounts | None = None
    notes: tuple[str, ...] = ()

    @property
    def dag(self) -> Dag:
        """The graph."""
        return self.network.dag

    @property
    def table(self) -> Table:
        """The rows that were learned from, or the source of them."""
        table: Table = self.prepared.table
        return table

    @property
    def missing(self) -> dict[str, int]:
        """Missing cells by column."""
        return self.table.missing()

    @property
    def bits(self) -> float:
        """The score as bits; for bic, the description length of structure and rows together."""
        return -self.score / math.log(2)

    def least_certain(self, n: int = 5) -> tuple[LearnedArc, ...]:
        """The arcs that least speaks for."""
        return self.arcs[::-1][:n]


def learn(
    data: Any,
    *,
    method: str = "auto",
    score: str | Score = "bic",
    target: str | None = None,
    order: Sequence[str] | None = None,
    knowledge: Knowledge | None = None,
    hidden: Mapping[str, int | Iterable[Any]] | None = None,
    prior: Prior = "bdeu:1",
    states: Mapping[str, Iterable[Any]] | None = None,
    weights: ArrayLike | str | None = None,
    cut: str = "quantile",
    bins: int | None = None,
    max_states: int = 255,
    alpha: float = 0.05,
    test: str = "g2",
    restarts: int = 0,
    bootstrap: int = 0,
    average: bool = False,
    known: StructureFit | None = None,
    time_limit: float | None = None,
    memory_limit: int = 1 << 30,
    rng: np.random.Generator | int | None = 0,
    progress: Callable[[Any], object] | None = None,
) -> StructureFit:
    """Learn structure and tables of a network.

    Parameters
    ----------
    data
        Anything that :func:`~bayeslearn.tables.as_table` reads, with or without missing cells; or a source
        (:func:`~bayeslearn.scan`), which is counted where it is. Columns that say nothing are left out, and numeric
        ones are cut; the result tells which.
    method
        A name of :data:`METHODS`: ``auto``, ``hill-climb``, ``tabu``, ``orders``, ``ges``, ``exact``, ``k2``,
        ``best-parents``, ``pc``, ``mmhc``, ``tree``, ``tan``, ``naive`` or ``empty``.
    score
        ``bic`` (or ``mdl``), ``aic``, ``loglik``, ``k2``, ``bdeu:CASES`` or ``bds:CASES``.
    target
        The variable that ``tan`` and ``naive`` are built around, and the root of ``tree``.
    order
        Every variable, parents before children, for ``k2`` and ``best-parents``.
    knowledge
        Arcs that must or cannot be there, tiers, roots, leaves, and how many parents there may be.
    hidden
        Variables that no row shows, with their states or how many there are.
    prior
        Cases that tables count as seen before; see :func:`~bayeslearn.network.fit_tables`.
    states, weights, max_states
        As for :func:`~bayeslearn.tables.as_table`.
    cut, bins
        How numeric columns are cut; see :meth:`~bayeslearn.tables.Table.discretise`.
    alpha, test
        For methods that test: the level, and ``g2``, ``chi2`` or ``mi``.
    restarts
        For ``hill-climb`` and ``tabu``: how often to change some arcs at random and to search on from there.
    bootstrap
        How many resamples of the rows tell how sure each arc is.
    average
        Keep the arcs that resamples agree on instead of those found from all rows.
    known
        What was learned of earlier rows of the same table: its counts are added, and only new rows counted.
    time_limit
        Seconds after which the best structure so far is taken.
    memory_limit
        Bytes: a quarter of them for counts that are remembered; ``exact`` refuses what would need more. Of a source the
        different rows are kept if an eighth of it holds them; else every pass counts what the search asks for next.
    rng
        For searches that throw dice, for resampling, and for draws of missing cells.
    progress
        Called with every step of a search; raising StopIteration ends it with the best so far.

    >>> rows = {"rain": list("nnyy") * 30, "hose": list("nyny") * 30, "wet": list("nyyy") * 30}
    >>> fit = learn(rows)
    >>> fit.dag.arcs, fit.network.query({"wet": "y", "hose": "n"})["rain"]["y"] > 0.99
    ((('rain', 'wet'), ('hose', 'wet')), True)
    """
    started = time.monotonic()
    validation.choice("method", method, list(METHODS))
    memory = validation.integer("memory_limit", memory_limit, least=0)
    late = None if time_limit is None else started + validation.number("time_limit", time_limit, least=0)
    recipe = Recipe(
        method, Score.of(score), knowledge or Knowledge(), prior, Limits(late, progress, memory), target,
        None if order is None else tuple(order), alpha, test, validation.integer("restarts", restarts, least=0),
        int(validation.generator(rng).integers(1 << 62)),
    )  # fmt: skip
    if known is None:
        prepared = prepare(
            data, states=states, weights=weights, cut=cut, bins=bins, max_states=max_states, target=target,
            memory=memory,
        )  # fmt: skip
    else:
        require_tables(known, data)
        more = as_table(data, schema=known.table.schema, weights=weights)
        prepared = replace(known.prepared, table=Table.concat([known.table, more]))
    fit = _fit(recipe, prepared, hidden or {}, known)
    if bootstrap or average:
        fit = _resampled(recipe, fit, validation.integer("bootstrap", bootstrap or ROUNDS, least=1), average=average)
    return replace(fit, seconds=time.monotonic() - started, stopped=recipe.limits.stopped)


### the parts of learning


def _fit(
    recipe: Recipe, prepared: Prepared, hidden: Mapping[str, int | Iterable[Any]], known: StructureFit | None
) -> StructureFit:
    if hidden or any(prepared.table.missing().values()):
        table = require_rows(prepared, "rows with holes")
        found = recipe.on_holes(table, hidden)
        expected = ScoreCache(_expected(found.network, table), recipe.score)
        arcs = _arcs(expected, found.network.dag)
        return StructureFit(
            found.network, recipe.method, recipe.score, found.score, arcs, prepared, expectation=found,
            notes=(*prepared.notes, *_notes_on_hidden(found)),
        )  # fmt: skip
    cache = scores_of(prepared, recipe.score, recipe.limits.memory, known)
    structure = recipe.on_counts(cache)
    notes = [*prepared.notes, *(structure.tests.notes if structure.tests else ()), *cache.notes]
    network = recipe.tables(cache.counts, structure.arcs)
    value, arcs = cache.settled(lambda: (cache.graph(structure.arcs), _arcs(cache, network.dag)), FOREVER)
    return StructureFit(
        network, recipe.method, recipe.score, value, arcs, prepared, tests=structure.tests,
        counts=cache.counts if prepared.looked is None else None, notes=tuple(notes),
    )  # fmt: skip


def scores_of(prepared: Prepared, score: Score, memory: int, known: StructureFit | None = None) -> ScoreCache:
    """Scores of complete rows, be they at hand or far away."""
    if prepared.rows is not None:
        return ScoreCache(_counts(prepared.rows, known, memory // 4), score)
    assert prepared.looked is not None
    return SourceScores(SourceCounts(prepared.table, prepared.looked, memory=memory), score)


def require_rows(prepared: Prepared, what: str) -> Table:
    """The rows in memory; of a source the different ones."""
    if prepared.rows is None:
        raise CapacityError(
            f"{what} are learned from in memory, and the source has too many different rows for that",
            hint="raise `memory_limit`, leave columns out, or learn from a part of the rows: scan fewer files",
        )
    return prepared.rows


def require_tables(known: StructureFit, data: Any) -> None:
    """What goes on from earlier rows has them at hand."""
    if known.prepared.looked is not None or is_source(data):
        raise ParameterError(
            "`known` goes on from the rows of a table, not from those of a source",
            hint="scan the earlier and the new rows together and learn from all of them",
        )


def _counts(table: Table, known: StructureFit | None, memory: int) -> FamilyCounts:
    """Of rows that were counted before nothing is counted again."""
    if known is None or known.counts is None:
        return FamilyCounts(table, memory=memory)
    new = np.arange(known.table.n_rows, table.n_rows)
    return known.counts + FamilyCounts(table.take(new), memory=memory)


def _expected(network: BayesianNetwork, table: Table) -> FamilyCounts:
    """Expected counts of rows with holes, under the network that was learned from them."""
    rows = as_table(table, schema=network.schema, absent="missing")
    return FamilyCounts(Completions.of(rows).under(network))


def _arcs(cache: ScoreCache, dag: Dag) -> tuple[LearnedArc, ...]:
    """Every arc with what the score would lose without it, the dearest first."""
    place = {name: i for i, name in enumerate(cache.counts.names)}
    found = []
    for child in dag:
        parents = tuple(sorted(place[p] for p in dag.parents(child)))
        now, without = cache.family(place[child], parents), cache.removals(place[child], parents)
        found += [LearnedArc(p, child, float(now - without[place[p]])) for p in dag.parents(child)]
    return tuple(sorted(found, key=lambda arc: (-arc.gain, arc.parent, arc.child)))


def _notes_on_hidden(found: StructuralEm) -> list[str]:
    alone = "is joined to nothing: the rows are explained as well without it"
    notes = [f"hidden variable {name!r} {alone}" for name in found.isolated]
    if found.hidden_gain is not None:
        notes.append(f"with its hidden variables the score is {found.hidden_gain:+.6g} of that without")
    if not found.exact:
        notes.append("rows with very many completions stand for draws of these")
    return notes


def _resampled(recipe: Recipe, fit: StructureFit, rounds: int, *, average: bool) -> StructureFit:
    """The same with the strength of every arc, or with the arcs that resamples agree on."""
    table, holes = require_rows(fit.prepared, "resamples"), fit.expectation is not None
    if holes and fit.prepared.looked is not None:
        raise ParameterError(
            "the rows of a source are not resampled where cells are missing: equal rows would be filled alike",
            hint="take the rows into memory first: learn(source.table(), bootstrap=...)",
        )
    if holes:
        table = impute(fit.network, table, how="draw", rng=recipe.seed)
    strengths = recipe.on_resamples(table, rounds)
    if not strengths.rounds:
        without = "the arcs are those of all rows" if average else "how sure arcs are is not known"
        return replace(fit, notes=(*fit.notes, f"no resample was done in time: {without}"))
    drawn = ["strengths are those of one completion of the rows, drawn at random"] if holes else []
    fit = replace(fit, strengths=strengths, notes=(*fit.notes, *drawn))
    if average:
        fit = _averaged(recipe, fit, strengths, FamilyCounts(table))
    return replace(fit, arcs=_with_strengths(fit.arcs, strengths))


def _averaged(recipe: Recipe, fit: StructureFit, strengths: ArcStrengths, counts: FamilyCounts) -> StructureFit:
    """The network of the arcs that resamples agree on, its tables learned from the rows as they are."""
    agreed = averaged(strengths, allowed=recipe.knowledge.of(strengths.names))
    arcs, cache = agreed.arcs, ScoreCache(fit.counts or counts, recipe.score)
    notes = [f"{arc.parent} -> {arc.child} {why} and was dropped" for arc, why in agreed.dropped.items()]
    if fit.expectation is None:
        network = recipe.tables(cache.counts, arcs)
    else:
        frame = uniform(graph(strengths.names, arcs), {cpt.name: cpt.variable for cpt in fit.network})
        hidden = {name: frame.states(name) for name in frame.names if name not in fit.table.schema.names}
        network = fit_tables(frame, fit.table, prior=recipe.prior, hidden=hidden, rng=recipe.seed).network
    value = cache.graph(arcs)
    return replace(fit, network=network, score=value, arcs=_arcs(cache, network.dag), notes=(*fit.notes, *notes))


def _with_strengths(arcs: tuple[LearnedArc, ...], strengths: ArcStrengths) -> tuple[LearnedArc, ...]:
    """The same arcs with their strength and direction, the strongest first."""
    place = {name: i for i, name in enumerate(strengths.names)}
    known = []
    for arc in arcs:
        way = place[arc.parent], place[arc.child]
        known.append(replace(arc, strength=float(strengths.strength[way]), direction=float(strengths.direction[way])))
    return tuple(sorted(known, key=lambda arc: (-(arc.strength or 0), -arc.gain, arc.parent, arc.child)))
