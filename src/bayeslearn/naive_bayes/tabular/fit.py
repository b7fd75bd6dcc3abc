"""Fitting naive Bayes: one pass over the rows with a label, and EM over the rows without one.

labeled      n_c += w                       θ = estimate(prior + statistics)
soft label   n_c += w · share_c
unlabeled    n_c += w · P(c | row, θ)       repeated until ln P(D|θ) + ln P(θ) converges
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.lineage import after_update, started, without_rows
from bayeslearn.errors import (
    EvidenceError,
    MissingValuesError,
    ParameterError,
    ShapeError,
    UnknownColumnError,
    WeightError,
    listed,
)
from bayeslearn.fit_info import with_fit_info
from bayeslearn.naive_bayes.tabular import row_blocks as blocks
from bayeslearn.naive_bayes.tabular.column_choices import choices_in
from bayeslearn.naive_bayes.tabular.inputs import (
    column_of,
    distribution_names,
    empty,
    every_column,
    framed,
    new_states,
    options_of,
    read_columns,
    require_columns,
)
from bayeslearn.naive_bayes.tabular.label_statistics import Hard, collected, fit_labeled, with_shares
from bayeslearn.naive_bayes.tabular.reporting import Checks, info_of
from bayeslearn.naive_bayes.tabular.row_blocks import Cases, SourceCases, all_cases
from bayeslearn.progress import Reporter, part, reports_progress
from bayeslearn.sources import as_source, with_options
from bayeslearn.tables import DiscreteVariable, Schema, Source, Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.components.distribution_choice import Choice
    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel
    from bayeslearn.progress import ProgressCallback
    from bayeslearn.tables.markers import Markers


@reports_progress("Fitting naive Bayes")
def fit_naive_bayes(
    data: Any,
    target: str | None = None,
    *,
    columns: Iterable[str] | None = None,
    drop_columns: Iterable[str] = (),
    distributions: Mapping[str, str] | str | None = "auto",
    prior: Any = "pooled:1",
    class_prior: Any = "laplace",
    estimate: Literal["mean", "integrated"] = "mean",
    sample_weight: Any = None,
    shares: Mapping[Any, Any] | None = None,
    unlabeled: Literal["em", "drop", "error"] = "em",
    calibrate: bool | Literal["auto"] = "auto",
    cv: int = 0,
    like: NaiveBayesModel | None = None,
    max_states: int = 255,
    na_values: Markers = (),
    keep_default_na: bool = True,
    tol: float = 1e-4,
    max_iter: int = 200,
    random_state: Any = 0,
    progress: Reporter | ProgressCallback | bool | None = None,
) -> NaiveBayesModel:
    """Fit a naive Bayes classifier of the column `target`.

    Parameters
    ----------
    data
        Anything that :func:`~bayeslearn.as_table` takes, or a source (:func:`~bayeslearn.scan`), patterns and
        directories of files, which are read batch by batch. Values and labels may be missing.
    target
        The column of the classes; with `shares` the name of the class variable. Not needed with `like`.
    columns
        The feature columns; all except the target by default.
    drop_columns
        Columns that are not used.
    distributions
        ``"auto"`` chooses the distribution of every numeric column by held-out evidence
        (:mod:`bayeslearn.components.distribution_choice`), on at most 10,000 rows with a label; with fewer than 20 it
        is Gaussian. A name is that of all numeric columns: ``"gaussian"``, ``"poisson"``, ``"log_normal"``,
        ``"kernel_density"``, ...; ``"binned"`` and ``"binned:8"`` discretize at quantiles, ``"binned:mdl"`` by minimum
        description length. A dict has names by column; the others are chosen. Columns of states are categorical.
    prior
        Prior of the features: an object for all columns of its distribution, a name (``"pooled:1"``, ``"evidence"``,
        ``"laplace"``, ``"jeffreys"``, ``"m:2"``), None for maximum likelihood, or a dict of these by column.
    class_prior
        Prior of the class probabilities: a Dirichlet, a rule, a name, or None for maximum likelihood.
    estimate
        ``"mean"`` uses posterior means as parameters. ``"integrated"`` integrates the parameters out: a number is then
        Student-t distributed and a count negative binomial.
    sample_weight
        The weight of each row, or the column that holds it; 1 by default.
    shares
        Soft labels in place of a column of labels: a dict of classes with the share of each row in the class.
    unlabeled
        Rows without a label: ``"em"`` adds their expected statistics, ``"drop"`` ignores them, ``"error"`` refuses
        them.
    calibrate
        Estimate the exponent of each column out of fold (:func:`~bayeslearn.naive_bayes.calibrate`); ``"auto"`` does so
        with at least 20 rows that have a label.
    cv
        Number of folds of the cross-validation reported in `fit_info`; 0 for none.
    like
        A model whose columns, distributions and priors are used, without its statistics.
    max_states
        Columns of text with more states are dropped.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`.
    tol, max_iter
        Convergence of EM, as in :func:`bayeslearn.em.run`.
    random_state
        Seed or generator for the folds.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress`. Where labels are
        missing, its `detail` is the :class:`~bayeslearn.em.EMStep`; StopIteration ends EM with the best model so far.

    Returns
    -------
    NaiveBayesModel
        The model; `fit_info` holds class counts, dropped columns, EM history and cross-validation
        (:class:`NaiveBayesFitInfo`).

    Raises
    ------
    UnknownColumnError
        There is no column `target`.
    DataError
        No row has a label, or a column does not fit its distribution.

    Examples
    --------
    >>> days = {"sky": ["sun", "sun", "rain", "rain", None], "wind": [1.0, 2.5, 6.0, 7.5, 2.0], "play": list("yynny")}
    >>> model = fit_naive_bayes(days, "play")
    >>> model.predict({"sky": ["rain", "sun"], "wind": [7.0, None]}).tolist()
    ['n', 'y']
    >>> model.fit_info.class_counts
    {'n': 2.0, 'y': 3.0}
    """
    start = time.perf_counter()
    assert progress is None or isinstance(progress, Reporter)
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    unlabeled = validation.choice("unlabeled", unlabeled, ["em", "drop", "error"])
    validation.integer("cv", cv, min_value=0)
    if like is not None:
        model, cases = more_cases(empty(like), data, like.target.name, sample_weight)
        model = replace(model, statistics=model.statistics + collected(model, cases))
        return with_fit_info(model, info_of(model, cases, seconds=time.perf_counter() - start))
    if not isinstance(target, str):
        what = "no target is given" if target is None else f"the target is a {type(target).__name__}, not a name"
        hint = 'name the column of the classes: fit_naive_bayes(data, "play"); or NaiveBayesClassifier().fit(X, y)'
        raise ParameterError(what, hint=hint)
    label = target if shares is None else None
    source, options, dropped = _columns(data, label, columns, distributions, sample_weight, max_states)
    names = [name for name in source.schema.names if name != target]
    for what, given in (("distributions", options), ("prior", prior)):
        require_columns(what, given, [*names, *dropped])
    classes = source.schema[target] if shares is None else DiscreteVariable(target, tuple(shares))
    assert isinstance(classes, DiscreteVariable)
    soft = None if shares is None else _shares(shares, source)
    choices = choices_in(source, target, options_of(options), classes.n_states, soft)
    missing, source = source.missing(), with_choices(source, choices)
    kinds = distribution_names(options) | {name: choice.distribution for name, choice in choices.items()}
    parts = [column_of(source.schema[name], kinds.get(name), prior) for name in names]
    frame = framed(classes, parts, class_prior, estimate)
    if soft is not None:
        assert isinstance(source, Table)
        w = None if source.sample_weight is None else np.asarray(source.sample_weight)
        rows = Cases(blocks.of_table(source, parts), np.zeros(source.n_rows, np.int32), w)
        model = with_shares(frame, rows, soft)
        info = info_of(model, rows, dropped=dropped, choices=choices, seconds=time.perf_counter() - start)
        return with_fit_info(model, info)
    cases = all_cases(source, parts, target)
    inner = part(progress, 0, 0.5 if cv or calibrate is True else 1)
    fitted = fit_labeled(frame, cases, unlabeled=unlabeled, tol=tol, max_iter=max_iter, progress=inner)
    checks = Checks(cv, calibrate, random_state, part(progress, 0.5, 1, "cross-validation"))
    model, checked, notes = checks.of(fitted.model, cases, fitted.n_labeled)
    info = info_of(
        model, cases, fitted, dropped=dropped, priors=(prior, class_prior), missing=missing, checked=checked,
        notes=notes, choices=choices, seconds=time.perf_counter() - start,
    )  # fmt: skip
    return with_fit_info(model, info)


def update(model: NaiveBayesModel, data: Any, *, sample_weight: Any = None) -> NaiveBayesModel:
    """The model with more rows; a row without a label adds its expected statistics."""
    model = replace(model, lineage=started(model.lineage, model.statistics))  # named before it gains states
    grown, cases = more_cases(model, data, model.target.name, sample_weight)
    more = collected(grown, cases)
    lineage = after_update(grown.lineage, grown.statistics, more)
    return replace(grown, statistics=grown.statistics + more, lineage=lineage)


def remove(model: NaiveBayesModel, data: Any, *, sample_weight: Any = None) -> NaiveBayesModel:
    """The model without rows that were added before."""
    grown, cases = more_cases(model, data, model.target.name, sample_weight)
    if grown is not model:
        raise EvidenceError(
            "the model does not have these rows: they have states that it does not know",
            hint="remove only rows that were added",
        )
    tally = cases.fold(Hard(model))
    if tally.hidden:
        raise MissingValuesError(
            f"{tally.hidden:,} rows have no {model.target.name!r}: what they added to the model is not known",
            hint="remove rows with a label",
        )
    left = model.statistics - tally.statistics
    return replace(model, statistics=left, lineage=without_rows(model.lineage, tally.statistics, left))


def more_cases(
    model: NaiveBayesModel, data: Any, target: str, sample_weight: Any
) -> tuple[NaiveBayesModel, Cases | SourceCases]:
    """The model with room for the states of more data, and their cases."""
    discrete = [c.name for c in model.columns if isinstance(c.variable, DiscreteVariable) and c.variable.cuts is None]
    found = as_source(
        data,
        columns=[target, *discrete],
        discrete=[target, *discrete],
        allow_constant=True,
        max_states=1 << 20,
        sample_weight=None if isinstance(sample_weight, str) else sample_weight,
    )
    known = {target: model.target, **{c.name: c.variable for c in model.columns}}
    fresh = {v.name: new_states(known[v.name], v.states) for v in found.schema.discrete}
    grown = model.add_states({model.target.name if name == target else name: states for name, states in fresh.items()})
    schema = Schema([DiscreteVariable(target, grown.target.states), *(c.variable for c in grown.columns)])
    return grown, all_cases(as_source(data, schema=schema, sample_weight=sample_weight), grown.columns, target)


### reading


def _source(
    data: Any, target: str | None, columns: Any, distributions: Mapping[str, str] | None, sample_weight: Any,
    max_states: int,
) -> tuple[Source, dict[str, str]]:  # fmt: skip
    """The data as a table or a source, and the dropped columns with the reasons."""
    if columns is not None:
        columns = [columns] if isinstance(columns, str) else list(columns)
        columns = [*columns, *([target] if target and target not in columns else [])]
    from bayeslearn.sources.usability import dropping, warn_dropped  # noqa: PLC0415 - plain arrays drop no column

    gone = dropping(data, None, columns)
    source: Source = read_columns(
        data, distributions, also_discrete=[target] if target else [], columns=columns, sample_weight=sample_weight,
        max_states=max_states, dropped_columns=gone,
    )  # fmt: skip
    if target is not None and target not in source.schema:
        why = (gone or {}).get(target)
        if why:
            raise MissingValuesError(why)
        raise UnknownColumnError(
            f"there is no column {target!r}", hint=f"the columns are {listed(source.schema.names)}"
        )
    warn_dropped(gone)
    return source, gone or {}


def _columns(
    data: Any, target: str | None, columns: Any, distributions: Any, sample_weight: Any, max_states: int
) -> tuple[Source, Mapping[str, str], dict[str, str]]:
    """The data, the options of its columns, and the dropped columns; one name is the option of all numeric columns."""
    given = every_column(distributions, ())
    source, dropped = _source(data, target, columns, given, sample_weight, max_states)
    if isinstance(distributions, str):
        given = every_column(distributions, [v for v in source.schema if v.name != target])
        if distribution_names(given).keys() & {v.name for v in source.schema.numeric}:
            source, dropped = _source(data, target, columns, given, sample_weight, max_states)
    return source, given, dropped


def with_choices(source: Source, choices: Mapping[str, Choice]) -> Source:
    """The data with columns in intervals where that was chosen."""
    cut = {name: c.variable for name, c in choices.items() if isinstance(c.variable, DiscreteVariable)}
    return source.with_intervals(cut) if cut else source


def _shares(shares: Mapping[Any, Any], source: Source) -> NDArray[np.float64]:
    """Soft labels, (rows, classes)."""
    if not isinstance(shares, Mapping) or not shares:
        raise ParameterError("`shares` must map classes to a number for each row", hint='shares={"yes": [0.8, 1.0]}')
    if not isinstance(source, Table):
        raise ParameterError(
            "soft labels of each row need the rows in memory", hint="use source.table(), or a column of labels"
        )
    found = [
        validation.not_negative("shares", validation.float_array("shares", s), error=WeightError)
        for s in shares.values()
    ]
    n = source.n_rows
    if any(s.shape != (n,) for s in found):
        raise ShapeError(f"expected {n} shares for each class, got shapes {[s.shape for s in found]}")
    return np.stack(found, axis=1)
