"""Fit a network to data: prepare the table, search for a structure, estimate its parameters.

Complete rows are counted, and scores and parameters follow from the counts; with missing values or hidden variables
the counts are expected ones (structural EM). Counts add, so that of more rows only the new ones are counted.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayeslearn import kernels, validation
from bayeslearn.errors import ConvergenceWarning, ParameterError, outside
from bayeslearn.fit_info import with_fit_info
from bayeslearn.network.structure.algorithms import ALGORITHMS, find
from bayeslearn.network.structure.missing_data.incomplete_rows import SINGLE, IncompleteTable
from bayeslearn.network.structure.missing_data.structural_em import structural_em
from bayeslearn.network.structure.preprocessing import PreparedData, prepare
from bayeslearn.network.structure.results import StructureFitInfo, arcs_of, graph, log_likelihood_of, tables_of
from bayeslearn.network.structure.scoring.criteria import ScoreCache, StructureScore
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import (
    UNLIMITED,
    BackgroundKnowledge,
    Budget,
    SearchSettings,
    reporting,
)
from bayeslearn.network.structure.uncertainty.bootstrap import with_strengths
from bayeslearn.progress import part, reports_progress
from bayeslearn.sources import is_source, with_options
from bayeslearn.tables import Table, as_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import ArrayLike

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.dag import DAG
    from bayeslearn.network.parameters.priors import Prior
    from bayeslearn.network.structure.missing_data.incomplete_rows import IncompleteRows
    from bayeslearn.network.structure.missing_data.structural_em import StructuralEM
    from bayeslearn.progress import ProgressCallback, Reporter
    from bayeslearn.tables.markers import Markers


#: Bootstrap samples of an average when their number is not given.
ROUNDS = 100


@reports_progress("Fitting a network")
def fit_network(
    data: Any,
    *,
    algorithm: str = "auto",
    criterion: str | StructureScore = "bic",
    target: str | None = None,
    order: Sequence[str] | None = None,
    knowledge: BackgroundKnowledge | None = None,
    max_parents: int | None = None,
    hidden: Mapping[str, int | Iterable[Any]] | None = None,
    prior: Prior = "bdeu:1",
    states: Mapping[str, Iterable[Any]] | None = None,
    sample_weight: ArrayLike | str | None = None,
    discretize: str = "quantile",
    n_bins: int | None = None,
    max_states: int = 255,
    significance_level: float = 0.05,
    test: str = "g_test",
    n_restarts: int = 0,
    bootstrap: int = 0,
    average: bool = False,
    test_size: float = 0.0,
    warm_start: BayesianNetwork | None = None,
    time_limit: float | None = None,
    memory_limit: int = 1 << 30,
    random_state: np.random.Generator | int | None = 0,
    progress: Reporter | ProgressCallback | bool | None = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> BayesianNetwork:
    """Fit a Bayesian network to data: structure and parameters.

    Constant columns and row identifiers are dropped, and numeric columns are discretized.

    Parameters
    ----------
    data
        Anything that :func:`~bayeslearn.tables.as_table` reads, with or without missing values; or a source
        (:func:`~bayeslearn.scan`), whose rows are counted batch by batch.
    algorithm
        A name of :data:`ALGORITHMS`: ``auto``, ``hill_climb``, ``tabu``, ``order_search``, ``ges``, ``exact``, ``k2``,
        ``optimal_given_order``, ``weak_parents_given_order``, ``pc``, ``mmhc``, ``chow_liu``, ``tan``, ``naive_bayes``
        or ``empty``.
    criterion
        What structures are compared by: ``bic`` (or ``mdl``), ``aic``, ``loglik``, ``k2``, ``bdeu:N`` or ``bds:N`` with
        the equivalent sample size N.
    target
        The class variable of ``tan`` and ``naive_bayes``, and the root of ``chow_liu``.
    order
        All variables, parents before children, for ``k2``, ``optimal_given_order`` and ``weak_parents_given_order``.
    knowledge
        Required and forbidden arcs, tiers, roots, leaves, and the maximum number of parents.
    max_parents
        The maximum number of parents of a variable, in addition to what `knowledge` has.
    hidden
        Variables that are not observed in any row, with their states or the number of states.
    prior
        The prior of the CPTs; see :func:`~bayeslearn.network.fit_parameters`.
    states, sample_weight, max_states
        As for :func:`~bayeslearn.tables.as_table`.
    discretize, n_bins
        The strategy for numeric columns and the number of bins; see :meth:`~bayeslearn.tables.Table.discretize`.
    significance_level, test
        Of the independence tests of ``pc`` and ``mmhc``; the test is ``g_test``, ``chi2`` or ``mutual_information``.
    n_restarts
        The number of random restarts of ``hill_climb`` and ``tabu``: some arcs are changed, and the search continues.
    bootstrap
        The number of bootstrap samples for arc strengths.
    average
        Whether to keep the arcs that most bootstrap samples agree on instead of those found from all rows.
    test_size
        The share of rows held out for a comparison with baselines, in ``fit_info.holdout``; 0 for none. The network
        is fitted to all rows in any case.
    warm_start
        A network that was fitted to earlier rows of the same table: its counts are added, and only new rows counted.
    time_limit
        Seconds after which the best structure so far is taken. Of very many rows with missing values a sample is
        searched first; a search that ends before it finds an arc gives a warning.
    memory_limit
        Bytes: a quarter of them for remembered counts; ``exact`` refuses to take more. The distinct rows of a source
        are kept in memory if they fit in an eighth; otherwise each pass counts what the search requires next.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.
    random_state
        Seed or generator for stochastic searches, bootstrap samples and imputation.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress` with its step as
        `detail`; raising StopIteration ends the search with the best network so far.

    Returns
    -------
    BayesianNetwork
        The network with CPTs, counts and prior; its `fit_info` is a :class:`StructureFitInfo`: arcs with gains and
        strengths, reversible and weakest arcs, CPT rows with little data, hold-out comparison, bins, dropped columns.

    Raises
    ------
    EmptyTableError
        No rows, or no column that can be used.

    Examples
    --------
    >>> rows = {"rain": list("nnyy") * 30, "hose": list("nyny") * 30, "wet": list("nyyy") * 30}
    >>> net = fit_network(rows)
    >>> net.dag.arcs, net.query({"wet": "y", "hose": "n"})["rain"]["y"] > 0.99
    ((('rain', 'wet'), ('hose', 'wet')), True)
    >>> [str(arc) for arc in net.fit_info.weakest_arcs(1)]
    ['rain → wet']
    """
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    started = time.monotonic()
    algorithm = validation.choice("algorithm", algorithm, list(ALGORITHMS))
    memory = validation.integer("memory_limit", memory_limit, min_value=0)
    test_size = validation.number("test_size", test_size, min_value=0, below=1)
    late = None if time_limit is None else started + validation.number("time_limit", time_limit, min_value=0)
    share = 0.6 if test_size else 1.0  # of the progress; the rest is the comparison on rows held out
    fitting, checking = part(progress, 0.0, share), part(progress, share, 1.0)  # type: ignore[arg-type] # opened
    settings = SearchSettings(
        algorithm, StructureScore.parse(criterion), limited(knowledge or BackgroundKnowledge(), max_parents), prior,
        Budget(late, reporting(fitting, time_limit), memory), target,
        None if order is None else tuple(order), significance_level, test,
        validation.integer("n_restarts", n_restarts, min_value=0),
        int(validation.generator(random_state).integers(1 << 62)),
    )  # fmt: skip
    earlier = None if warm_start is None else structure_info(warm_start)
    if earlier is None:
        prepared = prepare(
            data, states=states, sample_weight=sample_weight, discretize=discretize, n_bins=n_bins,
            max_states=max_states, target=target, memory=memory,
        )  # fmt: skip
    else:
        _require_tables(earlier, data)
        more = as_table(data, schema=earlier.table.schema, sample_weight=sample_weight)
        prepared = replace(earlier.prepared_data, table=Table.concat([earlier.table, more]))
    rounds = bootstrap or (ROUNDS if average else 0)
    counts = None if earlier is None else earlier.counts
    network = fit_prepared(settings, prepared, hidden or {}, counts, rounds=rounds, average=average)
    network = with_changed_info(network, seconds=time.monotonic() - started)
    if not (network.fit_info.arcs or len(network) == 1 or algorithm == "empty"):
        network = _without_arcs(network)
    if not test_size:
        return network
    from bayeslearn.network.holdout import evaluate_holdout  # noqa: PLC0415 - it fits networks by this module

    checked = evaluate_holdout(
        network, test_size=test_size, random_state=random_state, time_limit=time_limit, progress=checking
    )
    return with_changed_info(network, holdout=checked)


def limited(knowledge: BackgroundKnowledge, max_parents: int | None) -> BackgroundKnowledge:
    """Background knowledge with a limit of parents."""
    if max_parents is None:
        return knowledge
    limit = validation.integer("max_parents", max_parents, min_value=0)
    return replace(knowledge, max_parents=limit if knowledge.max_parents is None else min(limit, knowledge.max_parents))


def structure_info(network: BayesianNetwork) -> StructureFitInfo:
    """The fit_info of a network that `fit_network` returned."""
    info = network.fit_info
    if not isinstance(info, StructureFitInfo):
        raise ParameterError(
            "the network was returned by fit_parameters, with a given structure",
            hint="give a network that fit_network returned",
        )
    return info


def with_changed_info(network: BayesianNetwork, **changed: Any) -> BayesianNetwork:
    """The network with other values in its fit_info."""
    return with_fit_info(network, replace(network.fit_info, **changed))


### the parts of learning


def search(settings: SearchSettings, table: Table) -> DAG:
    """Return the graph that an algorithm finds for the rows of a table, with missing values or without."""
    if (table.codes < 0).any():
        return structural_em(IncompleteTable(table), settings).dag
    return graph(table.schema.names, find(settings, ScoreCache(FamilyCounts(table), settings.criterion)).arcs)


def fit_prepared(
    settings: SearchSettings,
    prepared: PreparedData,
    hidden: Mapping[str, int | Iterable[Any]],
    counts: FamilyCounts | None = None,
    *,
    rows: IncompleteRows | None = None,
    rounds: int = 0,
    average: bool = False,
) -> BayesianNetwork:
    """Fit a network to rows that are prepared; `counts` of the first of them, or of all, are not counted again.

    Incomplete `rows` that were folded before are not folded again.
    """
    if rounds:
        prepared.require_rows("resamples")
    if hidden or any(prepared.table.missing().values()):
        network = _with_missing_values(settings, prepared, hidden, rows)
    else:
        network = _complete(settings, prepared, counts)
    if rounds:
        rounds = validation.integer("bootstrap", rounds, min_value=1)
        network = with_strengths(settings, network, rounds, average=average)
    return with_changed_info(network, stopped_early=settings.budget.stopped)


def _complete(settings: SearchSettings, prepared: PreparedData, counts: FamilyCounts | None) -> BayesianNetwork:
    criterion = settings.criterion
    cache = prepared.scores(criterion, settings.budget.memory, counts)
    structure = find(settings, cache)
    notes = [*prepared.notes, *structure.notes, *(structure.tests.notes if structure.tests else ()), *cache.notes]
    network = tables_of(cache.counts, structure.arcs, settings.prior)
    value = cache.settled(lambda: cache.graph(structure.arcs), UNLIMITED)
    info = StructureFitInfo(
        n_rows=prepared.table.n_rows, log_likelihood=log_likelihood_of(network),
        dropped_columns=prepared.dropped_columns, notes=tuple(notes), settings=settings, score=value,
        arcs=arcs_of(network, criterion, cache.counts.total), prepared_data=prepared,
        independence_tests=structure.tests, counts=prepared.counts_to_add_to(cache),
        n_passes=prepared.n_passes + cache.passes, _network=network,
    )  # fmt: skip
    return with_fit_info(network, info)


def _with_missing_values(
    settings: SearchSettings,
    prepared: PreparedData,
    hidden: Mapping[str, int | Iterable[Any]],
    rows: IncompleteRows | None,
) -> BayesianNetwork:
    kernels.prepare("tables", "em", "structure", "completion", "orders")  # with one bar where they are compiled
    rows = rows or prepared.incomplete_rows(settings.budget.memory)
    found = structural_em(rows, settings, hidden=hidden)
    info = StructureFitInfo(
        n_rows=prepared.table.n_rows, history=found.history, converged=found.converged,
        log_likelihood=found.log_likelihood, dropped_columns=prepared.dropped_columns,
        notes=(*prepared.notes, *found.notes, *_notes_on_hidden(found)), settings=settings, score=found.score,
        arcs=arcs_of(found.network, settings.criterion, rows.total), prepared_data=prepared, structural_em=found,
        n_passes=prepared.n_passes + found.passes, _network=found.network,
    )  # fmt: skip
    return with_fit_info(found.network, info)


def _require_tables(earlier: StructureFitInfo, data: Any) -> None:
    """Refuse a source: only the rows of a table are kept for a later fit."""
    if not earlier.prepared_data.in_memory or is_source(data):
        raise ParameterError(
            "`warm_start` continues from the rows of a table, not from those of a source",
            hint="scan the earlier and the new rows together and fit a network to all of them",
        )


def _without_arcs(network: BayesianNetwork) -> BayesianNetwork:
    """The network with a note that no arc was found, and a warning if the search was ended early."""
    info = network.fit_info
    note = f"no arc improves {info.criterion.name}: all columns appear to be independent of each other"
    if info.stopped_early:
        note = (
            f"the search ended after {info.seconds:.3g} s, before it found an arc: "
            "all columns are independent in this network"
        )
        hint = "give it more time (`time_limit`), or fewer columns or rows"
        warnings.warn(f"{note}\n\nhint: {hint}", ConvergenceWarning, stacklevel=outside())
    return with_changed_info(network, notes=(note, *info.notes))


def _notes_on_hidden(found: StructuralEM) -> list[str]:
    alone = "is not connected: the rows are explained as well without it"
    notes = [f"hidden variable {name!r} {alone}" for name in found.isolated]
    if found.hidden_gain is not None:
        notes.append(f"the score with hidden variables is {found.hidden_gain:+.6g} compared to that without")
    if not found.exact and SINGLE not in found.notes:
        notes.append("rows with very many completions are represented by random completions")
    return notes
