"""Fit nearest neighbors to a table: rows are kept, and settings are selected by leave-one-out if they are "auto"."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.fit_info import FitInfo, plain, with_fit_info
from bayeslearn.neighbors import inputs, reporting
from bayeslearn.neighbors.distances import Distance, as_weights
from bayeslearn.neighbors.model import NeighborsModel
from bayeslearn.neighbors.model_selection import (
    REMOVAL,
    WEIGHTS,
    FeatureWeights,
    LeaveOneOut,
    calibrated,
    leave_one_out,
    select_feature_weights,
    select_n_neighbors,
)
from bayeslearn.progress import reports_progress
from bayeslearn.sources import with_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.tables import Table
    from bayeslearn.tables.markers import Markers

#: Words for the weights of features.
SELECTIONS = {"auto": WEIGHTS, "select": REMOVAL}

#: Rows that a report lists as predicted worst.
MAX_UNCERTAIN = 5


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class NeighborsFitInfo(FitInfo):
    """What a fit of nearest neighbors found out: leave-one-out errors, and the selected settings."""

    n_missing: int = 0
    #: The number of neighbors; None for all.
    n_neighbors: int | None = None
    #: The search for weights of features, if there was one.
    feature_selection: FeatureWeights | None = None
    _model: Any = None
    _found: LeaveOneOut | None = None

    @property
    def searched(self) -> LeaveOneOut | None:
        """The errors by number of neighbors of the search for settings, if there was one."""
        return self._found

    @cached_property
    def leave_one_out(self) -> LeaveOneOut | None:
        """Every row predicted from the others: with each number of neighbors that was tried, or with the one given.

        None if there is one row only.
        """
        if self._found is not None or len(self._model) < 2:
            return self._found
        return leave_one_out(self._model, n_neighbors=self._model.n_neighbors or len(self._model))

    def uncertain_rows(self, max_results: int = MAX_UNCERTAIN) -> list[dict[str, Any]]:
        """Return the rows that their neighbors contradict most: row, target, predicted, loss."""
        model, found = self._model, self.leave_one_out
        if found is None:
            return []
        states = model.classes

        def value(code: Any) -> Any:
            return states[int(code)] if states else float(code)

        return [
            {"row": i, "target": value(model.targets[i]), "predicted": value(found.predicted[i]),
             "loss": float(found.row_losses[i])}
            for i in found.uncertain_rows(max_results)
        ]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return all that the fit found out as plain values."""
        return plain({
            "n_rows": self.n_rows, "n_missing": self.n_missing, "n_neighbors": self.n_neighbors,
            "feature_weights": self._model.feature_weights, "feature_selection": self.feature_selection,
            "leave_one_out": self.leave_one_out, "uncertain_rows": self.uncertain_rows(),
            "dropped_columns": self.dropped_columns, "notes": self.notes, "seconds": self.seconds,
        })  # fmt: skip

    def _title(self) -> str:
        return f"k-nearest neighbors for {self._model.target.name}"

    def _pairs(self) -> dict[str, Any]:
        return reporting.fit_pairs(self, self._model)

    def _blocks(self) -> tuple[Any, ...]:
        return (
            reporting.error_grid(self.leave_one_out, self._model),
            reporting.weights_grid(self.feature_selection),
            reporting.uncertain_grid(self.uncertain_rows()),
        )


@reports_progress("Fitting nearest neighbors")
def fit_neighbors(
    data: Any,
    target: Any,
    *,
    n_neighbors: int | Literal["auto", "all"] = "auto",
    weights: Any = "uniform",
    metric: str = "scaled",
    feature_weights: Any = None,
    task: Literal["auto", "classification", "regression"] = "auto",
    prior: Any = 1.0,
    sample_weight: Any = None,
    columns: Iterable[str] | None = None,
    unlabeled: Literal["warn", "error", "drop"] = "warn",
    algorithm: str = "auto",
    max_neighbors: int = 50,
    calibrate: bool = False,
    max_states: int = 255,
    progress: Any = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> NeighborsModel:
    """Fit k-nearest neighbors: keep the rows of a table to predict one of its columns.

    Parameters
    ----------
    data
        Anything that :func:`~bayeslearn.as_table` takes.
    target
        The column to predict, or an array with a target for each row.
    n_neighbors
        The number of neighbors; ``"auto"`` for the one with the lowest leave-one-out error up to `max_neighbors`, or
        ``"all"`` (Shepard's method, with ``weights="inverse_square"``).
    weights
        ``"uniform"``, ``"inverse_square"``, or a function of an array of distances.
    metric
        The unit of numeric columns: ``"scaled"`` (standard deviation), ``"range"``, ``"euclidean"`` (1).
    feature_weights
        Weights by column; ``"auto"`` to select them by leave-one-out, ``"select"`` to select features (weights 0 and
        1). By default each has weight 1.
    task
        ``"classification"``, ``"regression"``, or ``"auto"``: whole numbers that repeat are classes.
    prior
        Equivalent sample size of the prior, or a prior of the distribution.
    sample_weight
        The weight of each row, or the column that holds it.
    columns
        The columns that distances are computed from; they are never dropped. By default all that can be used.
    unlabeled
        Rows without a target: ``"warn"`` drops them with a warning, ``"drop"`` silently, ``"error"`` refuses them.
    algorithm
        The search index: ``"auto"``, ``"kd_tree"``, ``"brute"``, or ``"approximate"`` (needs usearch).
    max_neighbors
        The largest number of neighbors that ``"auto"`` tries.
    calibrate
        Whether probabilities of classes are raised to the power of the lowest leave-one-out log loss.
    max_states
        Text columns with more states are dropped.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress`.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.

    Returns
    -------
    NeighborsModel
        With `fit_info`: leave-one-out errors, selected feature weights, dropped columns.

    Raises
    ------
    MissingValuesError
        Rows have no target, with ``unlabeled="error"``.
    EmptyTableError
        No column is left besides the target, or too few rows for leave-one-out.

    Examples
    --------
    >>> rows = {"hours": [1.0, 1.5, 2.0, 6.0, 7.0, 7.5], "wind": ["weak", None, "weak", "gale", "gale", "weak"],
    ...         "sail": ["no", "no", "no", "yes", "yes", "yes"]}
    >>> model = fit_neighbors(rows, "sail", n_neighbors=3)
    >>> model.predict({"hours": [1.2, 6.6], "wind": ["weak", "storm"]}).tolist()
    ['no', 'yes']
    >>> model.fit_info.leave_one_out.error
    0.0
    """
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    rows, variable, targets, dropped = inputs.labeled(
        data, target, task=task, columns=columns, sample_weight=sample_weight, unlabeled=unlabeled,
        max_states=max_states,
    )  # fmt: skip
    return fitted(
        rows, variable, targets, n_neighbors=n_neighbors, metric=metric, feature_weights=feature_weights,
        max_neighbors=max_neighbors, dropped=dropped, progress=progress, weights=weights, prior=prior,
        algorithm=algorithm, calibrate=calibrate,
    )  # fmt: skip


def fitted(
    rows: Table, target: Any, targets: NDArray[Any], *, n_neighbors: Any, metric: str, feature_weights: Any = None,
    max_neighbors: int = 50, dropped: Mapping[str, str] | None = None, progress: Any = None, calibrate: bool = False,
    **settings: Any,
) -> NeighborsModel:  # fmt: skip
    """The model of checked rows."""
    began = time.perf_counter()
    weighted = rows.sample_weight
    if weighted is not None and not weighted.all():  # rows of weight 0 are as good as absent
        there = np.flatnonzero(weighted)
        rows, targets = rows.take(there), targets[there]
    search = isinstance(feature_weights, str)
    if search:
        feature_weights = validation.choice("feature_weights", feature_weights, [*SELECTIONS])
    given = None if feature_weights is None or search else as_weights(feature_weights, rows.schema)
    if isinstance(n_neighbors, str):
        n_neighbors = validation.choice("n_neighbors", n_neighbors, ["auto", "all"])
    number = None if isinstance(n_neighbors, str) else n_neighbors
    model = NeighborsModel(rows, target, targets, Distance.fit(rows, metric, given), number, **settings)
    by_loo = isinstance(n_neighbors, str) and n_neighbors == "auto"
    selection, loo = None, None
    if search:
        selection = select_feature_weights(
            model, among=SELECTIONS[feature_weights], select_neighbors=by_loo, max_neighbors=max_neighbors,
            progress=progress,
        )  # fmt: skip
        model, loo = selection.model, selection.after
    elif by_loo:
        model, loo = select_n_neighbors(model, max_neighbors=max_neighbors)
    model = calibrated(model) if calibrate else model
    info = NeighborsFitInfo(
        n_rows=len(model), n_missing=sum(rows.missing().values()), n_neighbors=model.n_neighbors,
        feature_selection=selection, dropped_columns=dict(dropped or {}), seconds=time.perf_counter() - began,
        _model=model, _found=loo,
    )  # fmt: skip
    found = with_fit_info(model, info)
    object.__setattr__(info, "_model", found)  # both share what is computed later
    return found
