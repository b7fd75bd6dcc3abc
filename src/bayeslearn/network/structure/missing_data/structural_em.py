"""Structure from rows with missing values, and with variables that no row shows: structural EM.

    tables       θ of the present graph G by EM
    completion   the weighted table of expected counts n under (G, θ)           :mod:`.incomplete_rows`
    search       a graph that scores higher on n, from G on; its tables, counted from n, are where EM goes on

until the graph stays; then `polish`, a search that takes longer, has the last word. Of very many rows a sample comes
first: its graph and its tables are what all rows begin with.

What a graph is worth on the rows as they are shown is (Cheeseman and Stutz)

    score(G : D) = score(G : n) + ln P(D | θ) − Σ n ln θ         n the expected counts of its tables

which for complete rows is the score itself, and for BIC, once EM has settled, ln P(D | θ) − ½ ln N · parameters. With
maximum likelihood and every completion listed, BIC never falls from turn to turn.

References
----------
Friedman (1997), Learning belief networks in the presence of missing values and hidden variables; Friedman (1998), The
Bayesian structural EM algorithm. Cheeseman and Stutz (1996), Bayesian classification (AutoClass).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ConvergenceWarning, ParameterError, listed, outside
from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.dag import as_dag
from bayeslearn.network.parameters.fit import hidden_states
from bayeslearn.network.structure.algorithms import ALGORITHMS, FEW
from bayeslearn.network.structure.missing_data.structural_em_iterations import (
    MANY,
    IterationCost,
    Iterations,
    Turn,
    observed_score,
)
from bayeslearn.network.structure.results import graph
from bayeslearn.network.structure.score_based.fixed_structures import naive
from bayeslearn.network.structure.scoring.criteria import StructureScore
from bayeslearn.network.structure.search_settings import DRAWS, SearchSettings
from bayeslearn.tables import DiscreteVariable, Schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bayeslearn.network.dag import DAG
    from bayeslearn.network.structure.missing_data.incomplete_rows import IncompleteRows

#: Rows of the sample that a search among very many begins with, and the share of the time that it may take.
SAMPLE, SHARE = 20_000, 0.25


@dataclass(frozen=True)
class StructuralEM:
    """A network found from incomplete rows, and the way to it."""

    network: BayesianNetwork
    score: float
    log_likelihood: float
    #: The first is the start; the best of them is the network, with its tables fitted to the end.
    history: tuple[Turn, ...]
    #: Whether the graph stayed, or the next one was no better; not when a limit ended it.
    converged: bool
    #: Whether the expected counts were exact, every completion being listed.
    exact: bool
    #: Hidden variables that ended up joined to nothing: the rows are explained as well without them.
    isolated: tuple[str, ...] = ()
    #: With hidden variables: what is found without them.
    without: StructuralEM | None = None
    #: Passes over a source, after the one that looks at it; a table needs none.
    passes: int = 0
    #: What was guessed.
    notes: tuple[str, ...] = ()

    @property
    def dag(self) -> DAG:
        """The graph."""
        return self.network.dag

    @property
    def hidden_gain(self) -> float | None:
        """What hidden variables are worth: the score with them above that without, below zero when they cost more."""
        return None if self.without is None else self.score - self.without.score


def structural_em(
    rows: IncompleteRows,
    settings: SearchSettings | None = None,
    *,
    hidden: Mapping[str, int | Iterable[Any]] | None = None,
    start: BayesianNetwork | DAG | str | None = None,
    draws: int = DRAWS,
    n_init: int = 8,
    tol: float = 1e-3,
    max_iter: int = 50,
) -> StructuralEM:
    """Learn graph and tables from rows with missing values.

    Parameters
    ----------
    rows
        In memory or of a source.
    settings
        The algorithm, what a graph is judged by, what is known of it (hidden variables may be named too), the prior of
        tables and the budget. What scores no higher is not taken. The seed is that of draws and n_init; the same
        numbers serve every graph, so that luck does not drive the search.
    hidden
        Variables that no row shows, with their states or how many there are. The same is then learned without them;
        they are left alone if what they explain is not worth their parameters.
    start
        The graph to begin with, or a network whose tables EM begins with too. By default what knowledge requires and
        nothing else, with each hidden variable above all that are shown, for no search would find one that is alone.
    draws
        How many completions are drawn of a row that has too many to list them.
    n_init
        With hidden variables: how many random tables to begin from; the best is kept.
    tol
        Nats that an iteration of EM must gain to go on.
    max_iter
        The most graphs to go through; stopping there is warned of.

    >>> from bayeslearn.network.structure.missing_data.incomplete_rows import IncompleteTable
    >>> from bayeslearn.tables import as_table
    >>> rows = as_table([{"rain": r, "wet": w} for r, w in 40 * ["yy", "nn", "y?", "nn", "?n"]])
    >>> found = structural_em(IncompleteTable(rows))
    >>> sorted(map(sorted, found.dag.skeleton)), found.converged, [turn.arcs for turn in found.history]
    ([['rain', 'wet']], True, [0, 1, 1])
    """
    unseen = {name: hidden_states(name, states) for name, states in (hidden or {}).items()}
    settings = settings or SearchSettings()
    validation.integer("draws", draws, min_value=1)
    validation.integer("n_init", n_init, min_value=1)
    validation.integer("max_iter", max_iter, min_value=1)
    names, schema = rows.table.schema.names, with_hidden(rows.table.schema, unseen)
    form = None if unseen else fixed_form(settings, names)
    seed = int(np.random.default_rng(settings.seed).integers(1 << 62))
    by_name = rows.coded(schema.select(sorted(schema.names)), draws=draws, seed=seed)
    task = Iterations(by_name, tuple(unseen), form or settings, tol, max_iter, seed, polishes(settings, schema.names))
    task.allowed  # noqa: B018 - what is known must be possible
    without = learned(task.without_hidden(), None, names, n_init) if unseen else None
    begin = start if start is None or isinstance(start, BayesianNetwork) else as_dag(start)
    if begin is None and form is not None:
        begin = form_at_least(settings, names)
    if begin is None and by_name.many and by_name.table.n_rows >= 2 * SAMPLE:
        task, begin = sampled(task, n_init)
    found = learned(task, begin, [*names, *unseen], n_init, without)
    if form is None:
        return found
    return replace(found, score=observed_score(settings.criterion, found.network, found.log_likelihood, rows.total))


def polishes(settings: SearchSettings, names: Sequence[str]) -> bool:
    """Whether a longer search has the last word where values are missing."""
    return settings.algorithm == "auto" and len(names) > FEW


def fixed_form(settings: SearchSettings, names: Sequence[str]) -> SearchSettings | None:
    """For algorithms whose form is taken whether the score rises or not: a tree is the best one by its likelihood."""
    if ALGORITHMS[settings.algorithm].knows:
        return None
    settings.target_of(names)
    return replace(settings, criterion=StructureScore("loglik"))


def form_at_least(settings: SearchSettings, names: Sequence[str]) -> DAG | None:
    """What a form that is built around a target has at least."""
    target = settings.target_of(names)
    if target is None or ALGORITHMS[settings.algorithm].needs != "target":
        return None
    return graph(names, naive(len(names), target))


def sampled(task: Iterations, n_init: int) -> tuple[Iterations, BayesianNetwork]:
    """The task once it is known how long its parts take, and the network that a sample of the rows suggests."""
    soon = task.budget.reserve((1 - SHARE) * task.budget.left())
    settings = task.settings.with_budget(soon)
    part = replace(task, rows=task.rows.sample(SAMPLE), settings=settings, polish=False, pace=IterationCost())
    found, _, _ = part.turns(part.first(None, n_init))
    return replace(task, pace=part.pace.of_rows(task.rows.table.n_rows / SAMPLE)), found.network


def learned(
    task: Iterations,
    start: BayesianNetwork | DAG | None,
    names: Iterable[str],
    n_init: int,
    without: StructuralEM | None = None,
) -> StructuralEM:
    """All turns, and the best graph with its tables fitted to the end."""
    first = task.first(start, n_init)
    best, history, converged = task.turns(first)
    late = not (converged or task.affords_turn())
    if not (converged or late):
        warn_not_converged(history[-1])
    alone = None if without is None else task.beside(without.dag)
    if alone is not None and alone.score > best.score:
        best, history = alone, (*history, alone.turn(len(history), best.arcs, 0.0))
    if not (best.network.fit_info.converged or task.budget.reached()):
        best = task.fitted(best.network, best.arcs, MANY + 2)  # one more than EM makes, which is warned of
    task.budget.stopped |= late
    isolated = tuple(name for name in task.hidden if best.is_alone(task.names.index(name)))
    network, rows = BayesianNetwork(tuple(best.network[name] for name in names)), task.rows
    passes, notes = (0, ()) if without is None else (without.passes, without.notes)
    return StructuralEM(
        network, best.score, best.network.fit_info.log_likelihood, history, converged, rows.exact, isolated, without,
        rows.passes + passes, tuple(dict.fromkeys((*notes, *rows.notes))),
    )  # fmt: skip


def with_hidden(schema: Schema, hidden: Mapping[str, tuple[Any, ...]]) -> Schema:
    """Hidden variables in addition to the columns."""
    shown = [name for name in hidden if name in schema.names]
    if shown:
        raise ParameterError(f"{listed(shown)} cannot be hidden: the table has such a column", hint="give another name")
    return Schema([*schema, *(DiscreteVariable(name, states) for name, states in hidden.items())])


def warn_not_converged(last: Turn) -> None:
    """The turns have ended before the graph stayed."""
    warnings.warn(
        f"structural EM stopped after {last.iteration} turns, the last of which changed {last.changed} arcs\n\n"
        "hint: raise `max_iter`",
        ConvergenceWarning,
        stacklevel=outside(),
    )
