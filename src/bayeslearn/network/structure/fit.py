"""From a table, with missing values or without, to a network that can be asked: structure first, then its tables.

Complete rows are counted, and everything is read off the counts; with missing cells or hidden variables the counts are
expected ones (structural EM). Counts add, so that more rows of the same table need only be counted themselves.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayeslearn import kernels, validation
from bayeslearn.errors import ConvergenceWarning, ParameterError
from bayeslearn.network.structure.algorithms import METHODS, find
from bayeslearn.network.structure.missing_data.incomplete_rows import SINGLE, IncompleteTable
from bayeslearn.network.structure.missing_data.structural_em import structural_em
from bayeslearn.network.structure.preprocessing import PreparedData, prepare
from bayeslearn.network.structure.results import StructureFitInfo, arcs_of, graph, tables_of
from bayeslearn.network.structure.scoring.criteria import ScoreCache, StructureScore
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import UNLIMITED, BackgroundKnowledge, Budget, SearchSettings
from bayeslearn.network.structure.uncertainty.bootstrap import with_strengths
from bayeslearn.sources import is_source, with_options
from bayeslearn.tables import Table, as_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import ArrayLike

    from bayeslearn.network.dag import DAG
    from bayeslearn.network.parameters.priors import Prior
    from bayeslearn.network.structure.missing_data.incomplete_rows import IncompleteRows
    from bayeslearn.network.structure.missing_data.structural_em import StructuralEm
    from bayeslearn.tables.markers import Markers


#: Resamples when their number is not given.
ROUNDS = 100


def fit_network(
    data: Any,
    *,
    method: str = "auto",
    score: str | StructureScore = "bic",
    target: str | None = None,
    order: Sequence[str] | None = None,
    knowledge: BackgroundKnowledge | None = None,
    hidden: Mapping[str, int | Iterable[Any]] | None = None,
    prior: Prior = "bdeu:1",
    states: Mapping[str, Iterable[Any]] | None = None,
    sample_weight: ArrayLike | str | None = None,
    discretize: str = "quantile",
    n_bins: int | None = None,
    max_states: int = 255,
    alpha: float = 0.05,
    test: str = "g2",
    restarts: int = 0,
    bootstrap: int = 0,
    average: bool = False,
    known: StructureFitInfo | None = None,
    time_limit: float | None = None,
    memory_limit: int = 1 << 30,
    random_state: np.random.Generator | int | None = 0,
    progress: Callable[[Any], object] | None = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> StructureFitInfo:
    """Learn structure and tables of a network.

    Parameters
    ----------
    data
        Anything that :func:`~bayeslearn.tables.as_table` reads, with or without missing cells; or a source
        (:func:`~bayeslearn.scan`), which is counted where it is. Columns that say nothing are left out, and numeric
        ones are cut; the result tells which.
    method
        A name of :data:`METHODS`: ``auto``, ``hill-climb``, ``tabu``, ``orders``, ``ges``, ``exact``, ``k2``,
        ``best-parents``, ``faint-parents``, ``pc``, ``mmhc``, ``tree``, ``tan``, ``naive`` or ``empty``.
    score
        ``bic`` (or ``mdl``), ``aic``, ``loglik``, ``k2``, ``bdeu:CASES`` or ``bds:CASES``.
    target
        The variable that ``tan`` and ``naive`` are built around, and the root of ``tree``.
    order
        Every variable, parents before children, for ``k2``, ``best-parents`` and ``faint-parents``.
    knowledge
        Arcs that must or cannot be there, tiers, roots, leaves, and how many parents there may be.
    hidden
        Variables that no row shows, with their states or how many there are.
    prior
        Cases that tables count as seen before; see :func:`~bayeslearn.network.fit_parameters`.
    states, sample_weight, max_states
        As for :func:`~bayeslearn.tables.as_table`.
    discretize, n_bins
        The strategy for numeric columns and the number of bins; see :meth:`~bayeslearn.tables.Table.discretize`.
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
        Seconds after which the best structure so far is taken. Of very many rows with missing cells a sample is
        searched first; a search that was ended before it found an arc is warned of.
    memory_limit
        Bytes: a quarter of them for counts that are remembered; ``exact`` refuses what would need more. Of a source the
        different rows are kept if an eighth of it holds them, with holes if it holds eight of each; else every pass
        counts what the search asks for next.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.
    random_state
        For searches that throw dice, for resampling, and for draws of missing cells.
    progress
        Called with every step of a search; raising StopIteration ends it with the best so far.

    >>> rows = {"rain": list("nnyy") * 30, "hose": list("nyny") * 30, "wet": list("nyyy") * 30}
    >>> fit = fit_network(rows)
    >>> fit.dag.arcs, fit.network.query({"wet": "y", "hose": "n"})["rain"]["y"] > 0.99
    ((('rain', 'wet'), ('hose', 'wet')), True)
    """
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    started = time.monotonic()
    method = validation.choice("method", method, list(METHODS))
    memory = validation.integer("memory_limit", memory_limit, min_value=0)
    late = None if time_limit is None else started + validation.number("time_limit", time_limit, min_value=0)
    settings = SearchSettings(
        method, StructureScore.of(score), knowledge or BackgroundKnowledge(), prior, Budget(late, progress, memory),
        target, None if order is None else tuple(order), alpha, test, validation.integer("restarts", restarts,
        min_value=0),
        int(validation.generator(random_state).integers(1 << 62)),
    )  # fmt: skip
    if known is None:
        prepared = prepare(
            data, states=states, sample_weight=sample_weight, discretize=discretize, n_bins=n_bins,
            max_states=max_states,
            target=target,
            memory=memory,
        )  # fmt: skip
    else:
        _require_tables(known, data)
        more = as_table(data, schema=known.table.schema, sample_weight=sample_weight)
        prepared = replace(known.prepared, table=Table.concat([known.table, more]))
    rounds = bootstrap or (ROUNDS if average else 0)
    counts = None if known is None else known.counts
    fit = learn_prepared(settings, prepared, hidden or {}, counts, rounds=rounds, average=average)
    fit = replace(fit, seconds=time.monotonic() - started)
    return fit if fit.arcs or len(fit.network) == 1 or method == "empty" else _without_arcs(fit)


### the parts of learning


def search(settings: SearchSettings, table: Table) -> DAG:
    """The graph that the rows of a table suggest, with missing values or without."""
    if (table.codes < 0).any():
        return structural_em(IncompleteTable(table), settings).dag
    return graph(table.schema.names, find(settings, ScoreCache(FamilyCounts(table), settings.criterion)).arcs)


def learn_prepared(
    settings: SearchSettings,
    prepared: PreparedData,
    hidden: Mapping[str, int | Iterable[Any]],
    counts: FamilyCounts | None = None,
    *,
    rows: IncompleteRows | None = None,
    rounds: int = 0,
    average: bool = False,
) -> StructureFitInfo:
    """Learn from rows that are prepared; what was counted of the first of them, or of all, is not counted again.

    Nor are incomplete `rows` that were folded before.
    """
    if rounds:
        prepared.require_rows("resamples")
    if hidden or any(prepared.table.missing().values()):
        fit = _with_missing_values(settings, prepared, hidden, rows)
    else:
        fit = _complete(settings, prepared, counts)
    if rounds:
        fit = with_strengths(settings, fit, validation.integer("bootstrap", rounds, min_value=1), average=average)
    return replace(fit, stopped=settings.budget.stopped)


def _complete(settings: SearchSettings, prepared: PreparedData, counts: FamilyCounts | None) -> StructureFitInfo:
    criterion = settings.criterion
    cache = prepared.scores(criterion, settings.budget.memory, counts)
    structure = find(settings, cache)
    notes = [*prepared.notes, *structure.notes, *(structure.tests.notes if structure.tests else ()), *cache.notes]
    network = tables_of(cache.counts, structure.arcs, settings.prior)
    value = cache.settled(lambda: cache.graph(structure.arcs), UNLIMITED)
    arcs = arcs_of(network, criterion, cache.counts.total)
    return StructureFitInfo(
        network, settings, value, arcs, prepared, tests=structure.tests,
        counts=prepared.counts_to_add_to(cache), notes=tuple(notes),
        passes=prepared.passes + cache.passes,
    )  # fmt: skip


def _with_missing_values(
    settings: SearchSettings,
    prepared: PreparedData,
    hidden: Mapping[str, int | Iterable[Any]],
    rows: IncompleteRows | None,
) -> StructureFitInfo:
    kernels.prepare("tables", "em", "structure", "completion", "orders")  # with one bar where they are compiled
    rows = rows or prepared.incomplete_rows(settings.budget.memory)
    found = structural_em(rows, settings, hidden=hidden)
    arcs = arcs_of(found.network, settings.criterion, rows.total)
    return StructureFitInfo(
        found.network, settings, found.score, arcs, prepared, expectation=found,
        passes=prepared.passes + found.passes,
        notes=(*prepared.notes, *found.notes, *_notes_on_hidden(found)),
    )  # fmt: skip


def _require_tables(known: StructureFitInfo, data: Any) -> None:
    """What goes on from earlier rows has them at hand."""
    if not known.prepared.in_memory or is_source(data):
        raise ParameterError(
            "`known` goes on from the rows of a table, not from those of a source",
            hint="scan the earlier and the new rows together and learn from all of them",
        )


def _without_arcs(fit: StructureFitInfo) -> StructureFitInfo:
    """Nothing was found: that is said, and loudly where the search was ended."""
    note = f"no arc pays for its parameters by {fit.scored_by.name}: all columns look independent of each other"
    if fit.stopped:
        note = (
            f"the search was ended after {fit.seconds:.3g} s, before it had found an arc: "
            "this network takes all columns for independent"
        )
        hint = "give it more time (`time_limit`), or fewer columns or rows"
        warnings.warn(f"{note}\n\nhint: {hint}", ConvergenceWarning, stacklevel=3)
    return replace(fit, notes=(note, *fit.notes))


def _notes_on_hidden(found: StructuralEm) -> list[str]:
    alone = "is joined to nothing: the rows are explained as well without it"
    notes = [f"hidden variable {name!r} {alone}" for name in found.isolated]
    if found.hidden_gain is not None:
        notes.append(f"with its hidden variables the score is {found.hidden_gain:+.6g} of that without")
    if not found.exact and SINGLE not in found.notes:
        notes.append("rows with very many completions stand for draws of these")
    return notes
