"""How well networks predict rows that they were not fitted to: cross-validation, and rows held out of a search.

Cross-validation reports how probable the rows of a fold are, and how well a target is predicted from the others:

    ln P(row | rows of the other folds)        the statistics of a fold are taken away from those of all rows

Evidence adds, so that the network of all rows without a fold is that of all rows minus the fold: a graph is counted
once for all folds, where no cell is missing. Where cells are missing, and for learners that choose the graph too, each
fold is learned from the rows of the others.

A search is judged by rows that are held out of it:

    held out     a random share of the rows; from the others the network is learned once more, in the same way
    ahead        mean of d over the rows held out        d = ln P(row | learned) − ln P(row | other)
    error        √ Σ (d − mean)² / n                     of that mean

The others are a network without arcs, which knows each variable by itself, and the naive one around a single variable.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import evaluation, validation
from bayeslearn.em import should_stop
from bayeslearn.errors import ConvergenceWarning, ParameterError
from bayeslearn.evaluation import Metrics
from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.dag import DAG
from bayeslearn.network.inference.results import predictions
from bayeslearn.network.parameters.fit import fit_parameters, uniform
from bayeslearn.network.parameters.training_cases import weights_of
from bayeslearn.network.structure.fit import learn_prepared
from bayeslearn.network.structure.missing_data.incomplete_rows import IncompleteTable
from bayeslearn.network.structure.missing_data.structural_em_iterations import MANY, SLIGHT, by_position
from bayeslearn.network.structure.results import marginals, tables_of
from bayeslearn.network.structure.search_settings import Budget
from bayeslearn.printable import printable
from bayeslearn.sources import with_options
from bayeslearn.tables import Table, as_table
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from bayeslearn.network.dag import StructureLike
    from bayeslearn.network.parameters.priors import Prior
    from bayeslearn.network.structure.results import StructureFitInfo
    from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
    from bayeslearn.network.structure.search_settings import SearchSettings
    from bayeslearn.progress import Progress
    from bayeslearn.tables import DiscreteVariable
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]
    NetworkLearner = Callable[[Table], Any]


@dataclass(frozen=True, eq=False)
class NetworkCrossValidation:
    """How well networks predict rows that they were not fitted to; only rows of folds that were done are here."""

    #: The fold of each row.
    folds: NDArray[np.intp]
    #: ln P of what each row shows; −∞ for a row that is impossible under the other folds.
    log_likelihoods: Floats
    sample_weight: Floats
    #: The target, the codes of its states in each row (−1 where unknown), and P(state | rest of the row).
    target: DiscreteVariable | None = None
    labels: NDArray[np.integer[Any]] | None = None
    proba: Floats | None = None
    #: The position of each row in the data; all of them unless `stopped_early`.
    rows: NDArray[np.intp] | None = None
    #: Whether `progress` ended the cross-validation before all folds were done.
    stopped_early: bool = False

    @property
    def log_likelihood(self) -> float:
        """Σ w ln P(row)."""
        counted = self.sample_weight > 0
        return float(self.sample_weight[counted] @ self.log_likelihoods[counted])

    @property
    def mean_log_likelihood(self) -> tuple[float, float]:
        """The mean of ln P(row) and its standard error."""
        return evaluation.mean_with_error(self.log_likelihoods, self.sample_weight)

    @property
    def metrics(self) -> Metrics:
        """Accuracy, log loss, confusion and calibration of the target."""
        target, labels, proba = self._asked()
        return Metrics.of(proba, labels, classes=target.states, sample_weight=self.sample_weight)

    def roc(self, state: Any) -> tuple[Floats, Floats]:
        """False and true positive rates of a state of the target against all others, at every threshold."""
        from sklearn.metrics import roc_curve  # noqa: PLC0415 - slow to load

        known, is_state, p, w = self._against_others(state)
        false, true, _ = roc_curve(is_state[known], p[known], sample_weight=w[known])
        return false, true

    def auc(self, state: Any) -> float:
        """The area under the ROC curve of a state of the target against all others."""
        from sklearn.metrics import roc_auc_score  # noqa: PLC0415 - slow to load

        known, is_state, p, w = self._against_others(state)
        return float(roc_auc_score(is_state[known], p[known], sample_weight=w[known]))

    def _against_others(self, state: Any) -> tuple[Any, ...]:
        target, labels, proba = self._asked()
        code = target.code_of(state)
        known = (labels >= 0) & (self.sample_weight > 0)
        seen = np.unique(labels[known] == code)
        if len(seen) < 2:
            raise ParameterError(
                f"{'every' if seen.all() else 'no'} row has {target.name} = {state!r}, so that there is no ROC curve",
                hint="ask for a state that some rows have and others do not",
            )
        return known, labels == code, proba[:, code], self.sample_weight

    def _asked(self) -> tuple[DiscreteVariable, NDArray[np.integer[Any]], Floats]:
        if self.target is None or self.labels is None or self.proba is None:
            raise ParameterError("no target was given", hint='cross_validate(..., target="NAME")')
        return self.target, self.labels, self.proba

    def __str__(self) -> str:
        mean, error = self.mean_log_likelihood
        early = ", stopped early" if self.stopped_early else ""
        head = f"log likelihood {mean:.4f} ± {error:.4f} per row, {len(np.unique(self.folds))} folds{early}"
        if self.target is None:
            return head
        found = self.metrics
        return printable(
            f"{head}; {self.target.name}: accuracy {found.accuracy:.4f}, log loss {found.log_loss:.4f}, "
            f"calibration error {found.calibration.error:.4f}"
        )


def cross_validate(
    learner: StructureLike | NetworkLearner,
    data: Any,
    *,
    target: str | None = None,
    cv: int = 10,
    prior: Any = "auto",
    random_state: np.random.Generator | int | None = 0,
    n_bins: int = 5,
    sample_weight: Any = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
    progress: Callable[[float], object] | None = None,
) -> NetworkCrossValidation:
    """Judge a graph, or a way to learn networks, on rows that were not learned from.

    Parameters
    ----------
    learner
        A graph or a network, whose tables are learned anew from the rows of the other folds; or a function of a
        :class:`~bayeslearn.Table` that returns a network, such as ``lambda rows: fit_network(rows).network``.
    data
        Anything that :func:`~bayeslearn.as_table` reads. Numbers are cut once, at quantiles of all rows.
    target
        The variable to predict from the others; each fold then shows its states alike.
    cv
        How many folds, at least two.
    prior
        The prior of a graph's tables, as in :func:`~bayeslearn.fit_parameters`.
    random_state
        The seed or generator of the folds.
    n_bins
        Intervals that numbers are cut into.
    sample_weight, na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.
    progress
        Called with the share that is done after each fold; raising StopIteration ends the cross-validation, and the
        result then holds the rows of the folds that were done.

    Examples
    --------
    >>> rows = {"rain": list("yyynnnnn") * 5, "wet": list("yyynnnny") * 5}
    >>> with_arc, without = (cross_validate(g, rows, target="wet", cv=5) for g in ("[rain][wet|rain]", "[rain][wet]"))
    >>> with_arc.log_likelihood > without.log_likelihood
    True
    >>> with_arc.metrics.accuracy, round(with_arc.auc("y"), 3)
    (0.875, 0.835)
    """
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    table = read(learner, data, sample_weight, validation.integer("n_bins", n_bins, min_value=2))
    if target is not None:
        require_known([target], table.schema.names)
    labels = None if target is None else table.codes_of(target)
    fold = evaluation.folds(table.n_rows if labels is None else np.maximum(labels, 0), cv, random_state=random_state)
    variable: Any = None if target is None else table.schema[target]
    done, logs, proba = [], [], []
    for number, (asked, network) in enumerate(held_out_networks(learner, table, fold, prior), 1):
        rows = table.take(asked)
        done.append(asked)
        logs.append(network.score(rows).cases)
        if target is not None:
            proba += [found[target] for _, found in predictions(network, rows, [target])]
        if progress is not None and should_stop(progress, number / cv):
            break
    order = np.argsort(np.concatenate(done))
    judged = np.concatenate(done)[order]
    return NetworkCrossValidation(
        fold[judged], np.concatenate(logs)[order], weights_of(table)[judged], variable,
        None if labels is None else labels[judged], None if labels is None else np.concatenate(proba)[order],
        judged, stopped_early=len(judged) < table.n_rows,
    )  # fmt: skip


def read(learner: Any, data: Any, sample_weight: Any, n_bins: int) -> Table:
    """Rows as a network has them, or with numbers cut at their quantiles."""
    if isinstance(learner, BayesianNetwork):
        return as_table(
            data,
            schema=learner.schema,
            sample_weight=sample_weight,
            missing_columns="missing",
            handle_unknown="missing",
        )
    table = as_table(data, sample_weight=sample_weight)
    return table.discretize(n_bins=n_bins) if table.schema.numeric else table


def held_out_networks(
    learner: Any, table: Table, fold: NDArray[np.intp], prior: Any
) -> Iterator[tuple[NDArray[np.intp], BayesianNetwork]]:
    """The rows of each fold, and the network of the rows of all others."""
    parts = [np.flatnonzero(fold == f) for f in range(int(fold.max()) + 1)]
    if callable(learner):
        for asked in parts:
            yield asked, learned_by(learner, table.take(np.setdiff1d(np.arange(table.n_rows), asked)))
        return
    states = {variable.name: variable.states for variable in table.schema.discrete}
    declared = {} if isinstance(learner, BayesianNetwork) else {"states": states}
    whole = fit_parameters(learner, table, prior=prior, **declared).network  # type: ignore[arg-type]
    if (table.codes < 0).any():
        for asked in parts:
            rest = table.take(np.setdiff1d(np.arange(table.n_rows), asked))
            yield asked, fit_parameters(whole, rest, prior=prior).network
        return
    for asked in parts:
        yield asked, whole.remove(table.take(asked))


def learned_by(learner: NetworkLearner, rows: Table) -> BayesianNetwork:
    """The network that a function learns from rows."""
    found = learner(rows)
    network = getattr(found, "network", found)
    if not isinstance(network, BayesianNetwork):
        raise ParameterError(
            f"`learner` must return a network, got {type(found).__name__}",
            hint="give a graph, or a function like `lambda rows: learn(rows).network`",
        )
    return network


#: With fewer rows than this on either side, nothing is to be seen.
LEAST_ROWS = 10

#: One row in so many is scored to see how long that takes.
PROBE = 16


@dataclass(frozen=True)
class BaselineComparison:
    """Another structure on the same rows."""

    #: ln P of a row, on average.
    log_likelihood: float
    #: By how much the learned network is ahead of it, and the standard error of that.
    ahead: float
    error: float


@dataclass(frozen=True)
class HoldoutScore:
    """How probable rows are that were held out, under what was learned from the others."""

    rows: int
    #: How many rows it was learned from.
    learned_from: int
    #: ln P of a row, on average, under the network that was learned.
    log_likelihood: float
    empty: BaselineComparison
    naive: BaselineComparison
    #: The variable that the naive network is built around.
    center: str


def held_out(
    fit: StructureFitInfo,
    *,
    share: float = 0.2,
    random_state: np.random.Generator | int | None = 0,
    time_limit: float | None = None,
    progress: Callable[[Any], object] | None = None,
) -> HoldoutScore | None:
    """Learn from a part of the rows as it was learned from all, and see how probable the rest is.

    None when there are too few rows for that. Columns that no row of the part shows are dropped. Counts of complete
    rows are the difference of those of all rows and those of the rows held out, as far as they are known.

    Parameters
    ----------
    fit
        What was learned from all rows; settings, cuts and states are taken from it. The naive network is built around
        its target, or else around the variable with most arcs.
    share
        How much of the rows to hold out.
    random_state
        For the rows held out, and for learning.
    time_limit
        Seconds for all that is done here.
    progress
        Called with every step of the search; raising StopIteration ends it with the best so far.

    >>> from bayeslearn.network import fit_network
    >>> rows = {"rain": list("nnyy") * 30, "hose": list("nyny") * 30, "wet": list("nyyy") * 30}
    >>> found = held_out(fit_network(rows))
    >>> found.rows, found.center, found.empty.ahead > 3 * found.empty.error
    (24, 'wet', True)
    """
    share = validation.number("share", share, above=0, below=1)
    if not fit.prepared.in_memory:
        raise ParameterError(
            "rows are held out of a table, not of a source",
            hint="keep some files apart, and score them: fit.network.score(scan(others))",
        )
    table, settings = fit.table, fit.settings
    dice = validation.generator(random_state)
    order, cut = dice.permutation(table.n_rows), round(share * table.n_rows)
    if min(cut, table.n_rows - cut) < LEAST_ROWS:
        return None
    rest, part = table.take(np.sort(order[:cut])), table.take(np.sort(order[cut:]))
    seed = int(validation.generator(int(dice.integers(1 << 62))).integers(1 << 62))
    center, names = settings.target or most_joined(fit), [name for name, n in part.missing().items() if n < part.n_rows]
    if center not in names:
        return None
    settings = settings.without(set(part.schema.names) - set(names))
    rest, part = rest.select(names), part.select(names)
    budget = replace(Budget.from_time_limit(time_limit), progress=progress, memory=settings.budget.memory)
    counts = None if fit.counts is None else fit.counts.without(rest, part)
    rows = None if counts is not None else IncompleteTable(part)
    forms = [DAG(dict.fromkeys(names, ())), DAG({name: () if name == center else (center,) for name in names})]
    empty, naive = (_cases(_tables(form, rows, settings.prior, budget, counts), rest) for form in forms)
    if budget.deadline is not None:
        begin = time.monotonic()
        _cases(fit.network, rest.take(np.arange(0, rest.n_rows, PROBE)))  # how long that takes
        budget = replace(budget, deadline=budget.deadline - PROBE * (time.monotonic() - begin))
    learned = _cases(_learned(fit, part, counts, rows, replace(settings, seed=seed, budget=budget)), rest)
    weights = weights_of(rest)
    return HoldoutScore(
        rest.n_rows, part.n_rows, _mean(learned, weights), _beside(learned, empty, weights),
        _beside(learned, naive, weights), center,
    )  # fmt: skip


def _learned(
    fit: StructureFitInfo,
    part: Table,
    counts: FamilyCounts | None,
    rows: IncompleteTable | None,
    settings: SearchSettings,
) -> BayesianNetwork:
    """The network that a part of the rows gives in the same way."""
    prepared = replace(fit.prepared, table=part)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of this the search over all rows has warned
        return learn_prepared(
            settings, prepared, fit.hidden, counts, rows=rows, rounds=fit.averaged, average=bool(fit.averaged)
        ).network


def most_joined(fit: StructureFitInfo) -> str:
    """The variable with most arcs among those that rows show; of equals the first by name."""
    count = dict.fromkeys(sorted(fit.table.schema.names), 0)
    for name in (end for arc in fit.dag.arcs for end in arc if end in count):
        count[name] += 1
    return max(count, key=count.__getitem__)


### tables, and the time for them


def _tables(
    form: DAG, rows: IncompleteTable | None, prior: Prior, budget: Budget, counts: FamilyCounts | None
) -> BayesianNetwork:
    """The tables of a form by counts, or by EM, which may take a quarter of what time is left."""
    if counts is not None:
        return tables_of(counts, by_position(form, counts.names), prior)
    assert rows is not None
    if not form.arcs:
        return marginals(rows.table, prior)
    soon = budget.reserve(0.75 * budget.left())

    def progress(now: Progress) -> None:
        if now.detail.iteration >= MANY or soon.reached():
            raise StopIteration

    tol = max(1e-3, SLIGHT * rows.total)
    frame = uniform(form, {v.name: v for v in rows.table.schema})
    return rows.fit(frame, prior=prior, hidden=(), tol=tol, max_iter=MANY + 1, progress=progress).network


### means


def _cases(network: BayesianNetwork, rows: Table) -> NDArray[np.float64]:
    return network.score(rows).cases


def _mean(x: NDArray[np.float64], sample_weight: NDArray[np.float64]) -> float:
    """The weighted mean; what weighs nothing says nothing, even if it is −∞."""
    counted = sample_weight > 0
    total = sample_weight.sum()
    return float(sample_weight[counted] @ x[counted] / total) if total > 0 else float("nan")


def _beside(
    learned: NDArray[np.float64], other: NDArray[np.float64], sample_weight: NDArray[np.float64]
) -> BaselineComparison:
    both = np.isfinite(learned) & np.isfinite(other)
    if not both[sample_weight > 0].all():  # a row is impossible under one of them: no mean tells how far they are apart
        return BaselineComparison(_mean(other, sample_weight), float("nan"), float("nan"))
    d = np.where(both, learned, 0.0) - np.where(both, other, 0.0)
    ahead = _mean(d, sample_weight)
    error = np.sqrt((sample_weight**2 * (d - ahead) ** 2).sum()) / sample_weight.sum()
    return BaselineComparison(_mean(other, sample_weight), ahead, float(error))
