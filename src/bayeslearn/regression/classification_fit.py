"""Fit logistic units to the features of rows, or to radial units: rows, priors and the two fit functions."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.priors import cases_of
from bayeslearn.errors import MissingValuesError, ParameterError, ShapeError
from bayeslearn.progress import part, reports_progress
from bayeslearn.regression.classification_model import ClassificationModel
from bayeslearn.regression.feature_encoding import Features
from bayeslearn.regression.fit_results import ClassificationFitInfo, with_info
from bayeslearn.regression.logistic import LogisticFit
from bayeslearn.regression.logistic_optimizers import Codes, NormalPrior, Problem
from bayeslearn.regression.rbf_fit import choose, one_thread
from bayeslearn.regression.targets import Examples, coded, examples, known_classes, probabilities, read, shares
from bayeslearn.sources import with_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]

#: The precisions of the prior that ``"evidence"`` tries.
STRENGTHS = np.geomspace(1e3, 1e-3, 13)

#: Rows times the square of the number of coefficients from which the marginal likelihoods of several precisions are
#: compared by the curvature of each unit alone.
EVIDENCE_WORK = 10**10

#: The precision of intercepts where a declared class has no rows.
ABSENT = 0.01


@reports_progress("Fitting logistic regression")
def fit_logistic(
    data: Any,
    target: Any,
    *,
    prior: float | Literal["evidence"] | None = 1.0,
    features: Literal["columns", "columns_and_bins"] = "columns",
    n_bins: int = 5,
    soft: bool = False,
    classes: Sequence[Any] | None = None,
    algorithm: Literal["auto", "newton", "lbfgs", "gradient"] = "auto",
    rate: float | None = None,
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] = (),
    sample_weight: Any = None,
    tol: float = 1e-10,
    max_iter: int | None = None,
    max_states: int = 255,
    progress: Any = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> ClassificationModel:
    """Fit logistic regression: probabilities of classes by cross entropy.

    Parameters
    ----------
    data
        As in :func:`fit_linear`.
    target
        The column of classes, or the classes themselves; with `soft`, probabilities: (n,) of the second class, or
        (n, k) of all.
    prior
        The precision of the coefficients of standardized features; None is maximum likelihood, ``"evidence"`` the
        precision of the highest marginal likelihood: from 1 on, in steps of a factor √10, while it rises. Of many rows
        and coefficients, the curvature of each unit alone is used for that.
    features
        ``"columns"``, or ``"columns_and_bins"``: numbers have indicators of their quantile bins too, so that their
        effect may bend, and columns with missing values an indicator of these.
    n_bins
        The number of bins of a column.
    soft
        Whether `target` holds probabilities.
    classes
        The classes in their order; by default those of the rows, sorted.
    algorithm, rate, tol, max_iter
        As in :meth:`LogisticFit.fit`.
    columns, discrete, sample_weight, max_states
        As in :func:`fit_linear`.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress`; raising
        StopIteration ends the iterations with the coefficients so far.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.

    Returns
    -------
    ClassificationModel
        With `fit_info`: coefficients with intervals, accuracy on the training rows, dropped columns.

    Examples
    --------
    >>> model = fit_logistic({"dose": [1.0, 2.0, 3.0, 4.0], "well": ["no", "no", "yes", "yes"]}, "well")
    >>> model.predict({"dose": [1.5, 5.0]}).tolist()
    ['no', 'yes']
    """
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    how = {"columns": columns, "discrete": discrete, "sample_weight": sample_weight, "max_states": max_states}
    options = {"algorithm": algorithm, "rate": rate, "tol": tol, "max_iter": max_iter}
    return logistic(
        data, target, how, options, prior=prior, bins=bins_asked(features, n_bins), soft=soft, classes=classes,
        progress=progress,
    )  # fmt: skip


def bins_asked(features: str, n_bins: int) -> int:
    """The number of bins of a numeric column, 0 for none."""
    n_bins = validation.integer("n_bins", n_bins, min_value=2)
    return n_bins if validation.choice("features", features, ["columns", "columns_and_bins"]) != "columns" else 0


def logistic(
    data: Any, target: Any, how: dict[str, Any], options: dict[str, Any], *, prior: Any, classes: Any,
    bins: int = 0, soft: bool = False, progress: Any = None, keep_rows: bool = True,
) -> ClassificationModel:  # fmt: skip
    """The same with options in dicts; what the fit found out has the rows only with `keep_rows`."""
    began = time.perf_counter()
    found, known, d = class_examples(data, target, classes, how, soft=soft)
    features = Features.fit(found.inputs, sample_weight=found.sample_weight, n_bins=bins)
    x = features.design(found.inputs, ones=True)
    options = {**options, "sample_weight": found.sample_weight, "has_ones": True}
    model = ClassificationModel(features, found.names[0], known, strongest(x, d, prior, options, progress))
    return with_info(model, ClassificationFitInfo, found, prior=prior, began=began, keep_rows=keep_rows)


@reports_progress("Fitting radial basis functions")
def fit_rbf_classifier(
    data: Any,
    target: Any,
    n_units: int | Literal["auto"] = "auto",
    *,
    centers: str = "k-means",
    width: Any = "auto",
    prior: float | Literal["evidence"] | None = "evidence",
    classes: Sequence[Any] | None = None,
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] = (),
    sample_weight: Any = None,
    max_units: int = 128,
    max_states: int = 255,
    random_state: np.random.Generator | int | None = 0,
    progress: Any = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> ClassificationModel:
    """Fit a radial basis function network to classes.

    Units are selected as in :func:`fit_rbf`, by the marginal likelihood of a linear fit to the classes; their outputs
    are logistic units.

    Parameters
    ----------
    data, target, columns, discrete, sample_weight, max_states
        As in :func:`fit_logistic`.
    n_units, centers, width, max_units, random_state, progress
        As in :func:`fit_rbf`.
    prior, classes
        Of the output units, as in :func:`fit_logistic`.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.

    Returns
    -------
    ClassificationModel
        With `fit_info`: the numbers of units that were tried, accuracy on the training rows, dropped columns.
    """
    began = time.perf_counter()
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    how = {"columns": columns, "discrete": discrete, "sample_weight": sample_weight, "max_states": max_states}
    found, known, d = class_examples(data, target, classes, how, soft=False)
    features = Features.fit(found.inputs, sample_weight=found.sample_weight, every_state=True)
    x = features.standardized(features.encode(found.inputs).matrix)
    with one_thread():
        basis, tried = choose(
            x, shares(d.codes, d.n_classes)[:, 1:], n_units, centers=centers, width=width,
            sample_weight=found.sample_weight, max_units=max_units,
            random_state=validation.generator(random_state), progress=part(progress, 0.0, 0.9),
        )  # fmt: skip
        fit = strongest(basis(x), d, prior, {"sample_weight": found.sample_weight}, None)
    model = ClassificationModel(features, found.names[0], known, fit, basis)
    return with_info(model, ClassificationFitInfo, found, prior=prior, tried=tried, began=began)


def class_examples(
    data: Any, target: Any, classes: Sequence[Any] | None, how: dict[str, Any], *, soft: bool
) -> tuple[Examples, tuple[Any, ...], Any]:
    """Rows, classes, and the class of each row, or with `soft` the share of every class in it."""
    if soft:
        d = probabilities(target)
        inputs = read(data, **how)
        if len(inputs) != len(d):
            raise ShapeError(f"expected one target per row, got {len(d)} for {len(inputs)} rows")
        if np.isnan(d).any(axis=1).all():
            raise MissingValuesError("the target is missing in every row", hint="give rows whose target is known")
        known = tuple(range(d.shape[1])) if classes is None else tuple(classes)
        if len(known) != d.shape[1]:
            raise ParameterError(f"expected {len(known)} columns of probabilities, one per class, got {d.shape[1]}")
        return Examples(inputs, d, ("class",), inputs.sample_weight), known, d
    found = examples(data, target, classes=True, **how)
    if found.sample_weight is not None and not found.sample_weight.all():  # rows of weight 0 have no class
        labels = found.targets.astype(object)
        labels[found.sample_weight == 0] = None
        found = replace(found, targets=labels)
    known = known_classes(found.targets) if classes is None else tuple(classes)
    return found, known, Codes(coded(found.targets, known), len(known))


def strongest(x: Floats, d: Any, prior: Any, options: dict[str, Any], progress: Any) -> LogisticFit:
    """The fit under a prior, or under the prior of the highest marginal likelihood."""
    precision, has_ones = cases_of(prior), bool(options.get("has_ones"))
    if precision != "evidence":
        given = normal_prior(x, d, precision, has_ones=has_ones)
        return LogisticFit.fit(x, d, prior=given, progress=progress, **options)
    tried: dict[int, tuple[float, LogisticFit]] = {}
    at, step, best = len(STRENGTHS) // 2, 1, -1
    while 0 <= at < len(STRENGTHS) and at not in tried:
        inner = part(progress, len(tried) / len(STRENGTHS), (len(tried) + 1) / len(STRENGTHS))
        given = normal_prior(x, d, STRENGTHS[at], has_ones=has_ones)
        init = tried[best][1].coefficients if tried else None
        fit = LogisticFit.fit(x, d, prior=given, init=init, progress=inner, **options)
        tried[at] = evidence(fit), fit
        if best < 0 or tried[at][0] > tried[best][0]:
            best = at
        elif len(tried) == 2:
            step = -step  # the other way from the middle
        at = best + step
    return tried[best][1]


def evidence(fit: LogisticFit) -> float:
    """The log marginal likelihood, by the curvature of each unit alone where that of all is costly."""
    if isinstance(fit.curvature, Problem) and fit.curvature.work > EVIDENCE_WORK:
        return fit.log_marginal_likelihood(by_unit=True)
    return fit.log_marginal_likelihood()


def normal_prior(x: Floats, d: Any, strength: float, *, has_ones: bool) -> NormalPrior:
    """Coefficients near 0; intercepts are free, except where a class has no rows and would have no maximum."""
    k = d.n_classes if isinstance(d, Codes) else d.shape[1]
    n = np.bincount(d.codes[d.codes >= 0], minlength=k) if isinstance(d, Codes) else np.nansum(d, axis=0)
    absent = not (n > 0).all()
    dim = x.shape[1] - has_ones
    return NormalPrior.of(k if k > 2 else 1, dim, float(strength), intercept=ABSENT if absent else 0.0)
