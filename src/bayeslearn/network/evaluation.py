"""Cross-validation of networks: how well they predict rows that they were not fitted to.

Cross-validation reports the log-likelihood of the rows of each fold, and how well a target is predicted:

    ln P(row | rows of the other folds)        the statistics of a fold are subtracted from those of all rows

Evidence adds, so that the network of all rows without a fold is that of all rows minus the fold: the rows are counted
once for all folds if no value is missing. With missing values, and for functions that choose the structure too, the
network of each fold is fitted to the rows of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import evaluation, validation
from bayeslearn.em import should_stop
from bayeslearn.errors import ParameterError
from bayeslearn.evaluation import Metrics
from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.inference.results import predictions
from bayeslearn.network.parameters.fit import fit_parameters
from bayeslearn.network.parameters.training_cases import weights_of
from bayeslearn.reports import Pairs, Report, Reported
from bayeslearn.sources import with_options
from bayeslearn.tables import Table, as_table
from bayeslearn.tables.frames import frame_of
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from bayeslearn.network.dag import StructureLike
    from bayeslearn.network.inference.results import Backend
    from bayeslearn.tables import DiscreteVariable
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]
    NetworkLearner = Callable[[Table], Any]


@dataclass(frozen=True, eq=False, repr=False)
class NetworkCrossValidation(Reported):
    """How well networks predict rows that they were not fitted to; rows of folds that were done.

    Attributes
    ----------
    fold_of_row
        The fold of each row.
    log_likelihoods
        ln P of each row; −∞ for a row that is impossible under the network of the other folds.
    sample_weight
        The weight of each row.
    target, labels, proba
        The target, the codes of its states in each row (−1 if missing), and P(state | rest of the row).
    rows
        The position of each row in the data; all of them unless `stopped_early`.
    stopped_early
        Whether `progress` ended the cross-validation before all folds were done.
    """

    fold_of_row: NDArray[np.intp]
    log_likelihoods: Floats
    sample_weight: Floats
    target: DiscreteVariable | None = None
    labels: NDArray[np.integer[Any]] | None = None
    proba: Floats | None = None
    rows: NDArray[np.intp] | None = None
    stopped_early: bool = False

    @property
    def n_folds(self) -> int:
        """The number of folds that were done."""
        return len(np.unique(self.fold_of_row))

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

    def report(self) -> Report:
        """Return the mean log-likelihood, and how well the target is predicted."""
        mean, error = self.mean_log_likelihood
        pairs = {"Mean log-likelihood": f"{mean:.4f} ± {error:.4f}", "Log-likelihood": self.log_likelihood}
        early = ", stopped early" if self.stopped_early else ""
        title = f"Cross-validation of {len(self.fold_of_row):,} rows in {self.n_folds} folds{early}"
        if self.target is None:
            return Report(title, Pairs(pairs))
        found = self.metrics
        predicted = {
            "Accuracy": found.accuracy, "Log loss": found.log_loss, "Calibration error": found.calibration.error
        }  # fmt: skip
        return Report(title, Pairs(pairs), Pairs(predicted, f"Target {self.target.name}"))

    def to_dict(self) -> dict[str, Any]:
        """Return the means as plain values."""
        mean, error = self.mean_log_likelihood
        found: dict[str, Any] = {
            "n_rows": len(self.fold_of_row), "n_folds": self.n_folds, "stopped_early": self.stopped_early,
            "log_likelihood": self.log_likelihood, "mean_log_likelihood": mean, "standard_error": error,
        }  # fmt: skip
        if self.target is None:
            return found
        judged = self.metrics
        return found | {
            "target": self.target.name, "accuracy": judged.accuracy, "log_loss": judged.log_loss,
            "calibration_error": judged.calibration.error,
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each row: fold, log_likelihood, and P(state) for each state."""
        columns: dict[str, Any] = {"fold": self.fold_of_row, "log_likelihood": self.log_likelihoods}
        if self.target is not None and self.proba is not None:
            columns |= {
                f"P({self.target.name}={state})": self.proba[:, j] for j, state in enumerate(self.target.states)
            }
        return frame_of(columns, backend)


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
    """Cross-validate a structure, or a function that fits networks.

    Parameters
    ----------
    learner
        A graph or a network, whose CPTs are fitted to the rows of the other folds; or a function of a
        :class:`~bayeslearn.Table` that returns a network, such as :func:`~bayeslearn.fit_network`.
    data
        Anything that :func:`~bayeslearn.as_table` reads. Numeric columns are discretized at quantiles of all rows.
    target
        The variable to predict from the others; folds are then stratified by it.
    cv
        The number of folds, at least two.
    prior
        The prior of the CPTs, as in :func:`~bayeslearn.fit_parameters`.
    random_state
        The seed or generator of the folds.
    n_bins
        The number of bins of numeric columns.
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
        logs.append(network.log_likelihood(rows))
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
    whole = fit_parameters(learner, table, prior=prior, **declared)  # type: ignore[arg-type]
    if (table.codes < 0).any():
        for asked in parts:
            rest = table.take(np.setdiff1d(np.arange(table.n_rows), asked))
            yield asked, fit_parameters(whole, rest, prior=prior)
        return
    for asked in parts:
        yield asked, whole.remove(table.take(asked))


def learned_by(learner: NetworkLearner, rows: Table) -> BayesianNetwork:
    """The network that a function learns from rows."""
    network = learner(rows)
    if not isinstance(network, BayesianNetwork):
        raise ParameterError(
            f"`learner` must return a network, got {type(network).__name__}",
            hint="give a graph, or a function like `fit_network`",
        )
    return network
