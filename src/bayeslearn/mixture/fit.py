"""Fit a mixture: read the data, choose the parts and the number of components, run EM."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn.components.rows import Rows
from bayeslearn.fit_info import with_fit_info
from bayeslearn.mixture.component_selection import select_components
from bayeslearn.mixture.em_fit import (
    EMOptions,
    default_criterion,
    fit_components,
    largest_first,
    value_of,
    warn_of_empty,
)
from bayeslearn.mixture.inputs import opened
from bayeslearn.mixture.mixed_table import has_columns, parts_of_schema, read_table, with_names
from bayeslearn.mixture.model import MixtureModel
from bayeslearn.mixture.results import ComponentSelection, MixtureFitInfo, describe_clusters
from bayeslearn.progress import reports_progress
from bayeslearn.sources import with_options

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from bayeslearn.em import EMResult
    from bayeslearn.mixture.inputs import FoldedRows
    from bayeslearn.progress import ProgressCallback, Reporter
    from bayeslearn.tables.markers import Markers

Criterion = Literal["marginal_likelihood", "bic", "aic"]


@reports_progress("Fitting a mixture")
def fit_mixture(
    data: Any,
    n_components: int | Literal["auto"] = "auto",
    *,
    distributions: Any = None,
    covariance_type: Literal["full", "tied", "diag", "spherical"] | None = None,
    columns: Iterable[str] | None = None,
    variance: float | None = None,
    equal_weights: bool = False,
    prior: Any = "weak",
    sample_weight: Any = None,
    criterion: Criterion | None = None,
    min_components: int = 1,
    max_components: int = 20,
    patience: int = 2,
    init: Literal["k-means++", "random"] | MixtureModel = "k-means++",
    n_init: int = 4,
    tol: float = 1e-3,
    max_iter: int = 1000,
    max_states: int = 255,
    random_state: np.random.Generator | int | None = 0,
    progress: Reporter | ProgressCallback | bool | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 5,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> MixtureModel:
    """Fit a mixture to the rows of a table; values may be missing everywhere.

    Numeric tables get Gaussian components. In tables with categorical columns, columns are independent within a
    component: categorical, Gaussian, Poisson and so on. Constant columns and row identifiers are dropped.

    Parameters
    ----------
    data
        A data frame, a dict of columns, an array, a file, a source (:func:`~bayeslearn.scan`), a list of rows or of
        numbers, or :class:`Batches`.
    n_components
        The number of components, or ``"auto"``: the number with the best `criterion`, at most `max_components`.
    distributions
        A dict with the distribution of columns by name: ``"categorical"``, ``"gaussian"``, ``"poisson"``, ``"gamma"``
        and so on. Other columns are categorical or Gaussian, by their values. Or one distribution for all columns, a
        list with one for each, or a list of :class:`Component`.
    covariance_type
        ``"full"``, ``"tied"``, ``"diag"`` or ``"spherical"``. By default ``"full"`` if all columns are numeric,
        else ``"diag"``: Gaussian columns are independent within a component.
    columns
        The columns to use; default: all.
    variance
        A known variance, the same for all columns and components: only means are estimated.
    equal_weights
        Whether all components have the same weight.
    prior
        ``"weak"``: one pseudo-row in every component, a third as wide as the data, which keeps covariances regular;
        None: maximum likelihood; or a prior of the distribution, a list of them, a :class:`MixturePrior`.
    sample_weight
        The weight of each row, or the name of a column.
    criterion
        What compares numbers of components: ``"marginal_likelihood"`` (the default with a prior), ``"bic"`` (the
        default without) or ``"aic"``.
    min_components, max_components
        The range that ``"auto"`` tries.
    patience
        ``"auto"`` tries larger numbers until this many in a row do not improve the criterion.
    init
        How initial components are found: ``"k-means++"``, ``"random"``, or a model to continue from.
    n_init
        The number of initializations; the best result is kept.
    tol
        The gain in log-likelihood, in nats, at which EM has converged.
    max_iter
        The maximum number of iterations.
    max_states
        Categorical columns with more states are dropped.
    random_state
        Seed or generator for initial values.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress`.
    checkpoint, checkpoint_every
        A file to which the best model so far is written every `checkpoint_every` iterations and at the end;
        ``init=bayeslearn.load(file)`` continues from it.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.

    Returns
    -------
    MixtureModel
        The components, the largest first unless `init` is a model; `fit_info` has the history, the criterion and the
        probability of every number of components, the hierarchy of clusters, dropped columns, and the most uncertain
        rows.

    Raises
    ------
    EmptyTableError
        No rows, or no column that varies.
    EvidenceError
        Without a prior, a component has collapsed to a point in every initialization.

    Examples
    --------
    >>> model = fit_mixture([1.0, 1.2, 0.8, 5.0, 5.1, 4.9], 2)
    >>> [round(float(m), 1) for m in sorted(model["x0"].mean[:, 0])]
    [1.0, 5.0]

    >>> rows = {"hue": ["red", "blue"] * 20, "size": [1.0, 9.0, 1.2, 9.1, 0.8, 8.8, 1.1, 9.4] * 5}
    >>> model = fit_mixture(rows)
    >>> model
    MixtureModel(2 components of hue, size; 40 rows)
    >>> model.fit_info.selection.n_components, len(set(model.predict({"hue": ["red", "blue"], "size": [1.0, 9.0]})))
    (2, 2)
    """
    began = time.perf_counter()
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    options = EMOptions(
        prior=prior, equal_weights=equal_weights, init=init, n_init=n_init, tol=tol, max_iter=max_iter,
        random_state=random_state, checkpoint=checkpoint, checkpoint_every=checkpoint_every,
    )  # fmt: skip
    by = default_criterion(criterion, prior)
    dropped: dict[str, str] = {}
    data, distributions = with_names(data, distributions, columns)
    if has_columns(data) and (distributions is None or isinstance(distributions, Mapping)):
        chosen = distributions or {}
        data, dropped = read_table(data, chosen, columns, sample_weight, max_states)
        distributions = parts_of_schema(data.schema, chosen, covariance_type, variance)
        sample_weight = None
    source, parts = opened(data, distributions, covariance_type or "full", variance, sample_weight)
    if n_components == "auto":
        result, scores = select_components(
            source, parts, options, criterion=by, min_components=min_components, max_components=max_components,
            patience=patience, progress=progress,  # type: ignore[arg-type]
        )  # fmt: skip
    else:
        result = fit_components(source, parts, n_components, options, progress)  # type: ignore[arg-type]
        scores = {result.model.n_components: value_of(result, by)}
    if not isinstance(init, MixtureModel):
        result = largest_first(result)
    warn_of_empty(result.model)
    if checkpoint is not None:
        result.model.save(checkpoint)
    info = info_of(result, source, data, ComponentSelection(by, scores), dropped)
    return with_fit_info(result.model, replace(info, seconds=time.perf_counter() - began))


def info_of(
    result: EMResult[MixtureModel],
    source: Rows | FoldedRows,
    data: Any,
    selection: ComponentSelection,
    dropped: Mapping[str, str],
) -> MixtureFitInfo:
    """What the fit found out; rows that are not in memory are not examined for uncertainty."""
    model = result.model
    n_rows, n_missing = round(model.total_weight), None
    examined: tuple[MixtureModel, Rows] | None = None
    notes: tuple[str, ...] = ()
    if isinstance(source, Rows):
        examined = (model, source)
        n_rows = len(source)
        n_missing = sum(int((np.isnan(c) if c.dtype.kind == "f" else c < 0).sum()) for c in source.cells)
    else:
        notes = ("Uncertain rows are reported only for rows in memory.",)
    if hasattr(data, "missing"):
        n_rows, n_missing = data.n_rows, sum(data.missing().values())
    return MixtureFitInfo(
        n_rows=n_rows, history=result.history, converged=result.converged, log_likelihood=result.log_likelihood,
        dropped_columns=dict(dropped), notes=notes, n_components=model.n_components, n_columns=len(model.schema),
        n_missing=n_missing, selection=selection, clusters=tuple(describe_clusters(model)),
        _model=model, _examined=examined,
    )  # fmt: skip
