"""Structure from rows with holes, and with variables that no row shows: structural EM.

    tables       θ of the present graph G by EM
    completion   the weighted table of expected counts n under (G, θ)           :mod:`.completions`
    search       a graph that scores higher on n, from G on; its tables, counted from n, are where EM goes on

until the graph stays; then `polish`, a search that takes longer, has the last word. Of very many rows a sample comes
first: its graph and its tables are what all rows begin with.

What a graph is worth on the rows as they are shown is (Cheeseman and Stutz)

    score(G : D) = score(G : n) + ln P(D | θ) − Σ n ln θ         n the expected counts of its own tables

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

from bayeslearn import validation
from bayeslearn.errors import NotConvergedWarning, ParameterError, listed
from bayeslearn.network.learning.fit import hidden_states
from bayeslearn.network.network import BayesianNetwork
from bayeslearn.network.structure.counting.scores import Score
from bayeslearn.network.structure.holes.completions import DRAWS
from bayeslearn.network.structure.holes.pace import Pace
from bayeslearn.network.structure.holes.shown import Far, Near, shown
from bayeslearn.network.structure.holes.turns import MANY, Task, Turn
from bayeslearn.network.structure.knowledge import Knowledge
from bayeslearn.network.structure.limits import FOREVER, Limits
from bayeslearn.network.structure.searching.climbing import tabu
from bayeslearn.network.structures import as_dag
from bayeslearn.tables import Discrete, Schema

#: Rows of the sample that a search among very many begins with, and the share of the time that it may take.
SAMPLE, SHARE = 20_000, 0.25

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import ArrayLike

    from bayeslearn.network.graph import Dag
    from bayeslearn.network.learning.priors import Prior
    from bayeslearn.network.structure.holes.turns import Search


@dataclass(frozen=True)
class StructuralEm:
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
    without: StructuralEm | None = None
    #: Passes over a source, after the one that looks at it; a table needs none.
    passes: int = 0
    #: What was guessed.
    notes: tuple[str, ...] = ()

    @property
    def dag(self) -> Dag:
        """The graph."""
        return self.network.dag

    @property
    def hidden_gain(self) -> float | None:
        """What hidden variables are worth: the score with them above that without, below zero when they cost more."""
        return None if self.without is None else self.score - self.without.score


def structural_em(
    data: Any,
    *,
    score: str | Score = "bic",
    knowledge: Knowledge | None = None,
    search: Search = tabu,
    polish: Search | None = None,
    hidden: Mapping[str, int | Iterable[Any]] | None = None,
    prior: Prior = None,
    start: BayesianNetwork | Dag | str | None = None,
    weights: ArrayLike | str | None = None,
    draws: int = DRAWS,
    restarts: int = 8,
    tol: float = 1e-3,
    max_iter: int = 50,
    limits: Limits = FOREVER,
    rng: np.random.Generator | int | None = 0,
) -> StructuralEm:
    """Learn graph and tables from rows with holes.

    Parameters
    ----------
    data
        Anything that :func:`~bayeslearn.tables.as_table` reads, or a source (:func:`~bayeslearn.scan`), whose expected
        counts come by passes; numeric columns are cut at their quantiles.
    score
        What a graph is judged by; see :class:`~bayeslearn.network.structure.counting.scores.Score`.
    knowledge
        Arcs that must or cannot be there; hidden variables may be named too.
    search
        How to go from one graph to a better one: `tabu`, `climb`, or any function of a structure and limits that
        returns arcs, such as ``lambda here, limits: ges(here.cache, here.allowed, limits)``; what scores no higher is
        not taken.
    polish
        A search that takes longer, for the turns after `search` has found nothing better.
    hidden
        Variables that no row shows, with their states or how many there are. The same is then learned without them;
        they are left alone if what they explain is not worth their parameters.
    prior
        For the tables, as in :func:`~bayeslearn.network.fit_tables`.
    start
        The graph to begin with, or a network whose tables EM begins with too. By default what knowledge requires and
        nothing else, with each hidden variable above all that are shown, for no search would find one that is alone.
    weights
        How often each row counts, or the column that says so.
    draws
        How many completions are drawn of a row that has too many to list them.
    restarts
        With hidden variables: how many random tables to begin from; the best is kept.
    tol
        Nats that an iteration of EM must gain to go on.
    max_iter
        The most graphs to go through; stopping there is warned of.
    limits
        A deadline, and someone who is told of every step of the searches and may end them.
    rng
        The seed of draws and restarts; the same numbers serve every turn, so that luck does not drive the search.

    >>> rows = [{"rain": r, "wet": w} for r, w in 40 * ["yy", "nn", "y?", "nn", "?n"]]
    >>> found = structural_em(rows)
    >>> found.dag, found.converged, [turn.arcs for turn in found.history]
    ([rain][wet|rain], True, [0, 1, 1])
    """
    unseen = {name: hidden_states(name, states) for name, states in (hidden or {}).items()}
    validation.integer("draws", draws, least=1)
    validation.integer("restarts", restarts, least=1)
    validation.integer("max_iter", max_iter, least=1)
    seed = int(validation.generator(rng).integers(1 << 62))
    given = data if isinstance(data, Near | Far) else shown(data, weights, limits.memory)
    names, schema = given.table.schema.names, with_hidden(given.table.schema, unseen)
    rows = given.coded(schema.select(sorted(schema.names)), draws=draws, seed=seed)
    allowed = (knowledge or Knowledge()).of(rows.table.schema.names)
    task = Task(rows, tuple(unseen), allowed, Score.of(score), prior, search, tol, max_iter, seed, limits, polish)
    without = learned(task.without_hidden(), None, names, restarts) if unseen else None
    begin = start if start is None or isinstance(start, BayesianNetwork) else as_dag(start)
    if begin is None and isinstance(rows, Near) and rows.many and rows.table.n_rows >= 2 * SAMPLE:
        task, begin = sampled(task, rows, restarts)
    return learned(task, begin, [*names, *unseen], restarts, without)


def sampled(task: Task, rows: Near, restarts: int) -> tuple[Task, BayesianNetwork]:
    """The task once it is known how long its parts take, and the network that a sample of the rows suggests."""
    some = rows.sample(SAMPLE)
    soon = task.limits.sooner((1 - SHARE) * task.limits.left())
    part = replace(task, rows=some, limits=soon, polish=None, pace=Pace())
    found, _, _ = part.turns(part.first(None, restarts))
    return replace(task, pace=part.pace.of_rows(rows.table.n_rows / SAMPLE)), found.fit.network


def learned(
    task: Task,
    start: BayesianNetwork | Dag | None,
    names: Iterable[str],
    restarts: int,
    without: StructuralEm | None = None,
) -> StructuralEm:
    """All turns, and the best graph with its tables fitted to the end."""
    first = task.first(start, restarts)
    best, history, converged = task.turns(first)
    late = not (converged or task.affords_turn())
    if not (converged or late):
        warn_not_converged(history[-1])
    alone = None if without is None else task.beside(without.dag)
    if alone is not None and alone.score > best.score:
        best, history = alone, (*history, alone.turn(len(history), best.arcs, 0.0))
    if not (best.fit.converged or task.limits.reached()):
        best = task.fitted(best.fit.network, best.arcs, MANY + 2)  # one more than EM makes, which is warned of
    task.limits.stopped |= late
    isolated = tuple(name for name in task.hidden if best.is_alone(task.names.index(name)))
    network, rows = BayesianNetwork(tuple(best.fit.network[name] for name in names)), task.rows
    passes, notes = (0, ()) if without is None else (without.passes, without.notes)
    return StructuralEm(
        network, best.score, best.fit.log_likelihood, history, converged, rows.exact, isolated, without,
        rows.passes + passes, tuple(dict.fromkeys((*notes, *rows.notes))),
    )  # fmt: skip


def with_hidden(schema: Schema, hidden: Mapping[str, tuple[Any, ...]]) -> Schema:
    """Hidden variables beside the columns."""
    shown = [name for name in hidden if name in schema.names]
    if shown:
        raise ParameterError(f"{listed(shown)} cannot be hidden: the table has such a column", hint="give another name")
    return Schema([*schema, *(Discrete(name, states) for name, states in hidden.items())])


def warn_not_converged(last: Turn) -> None:
    """The turns have ended before the graph stayed."""
    warnings.warn(
        f"structural EM stopped after {last.iteration} turns, the last of which changed {last.changed} arcs\n\n"
        "hint: raise `max_iter`",
        NotConvergedWarning,
        stacklevel=4,
    )
