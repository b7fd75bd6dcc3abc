"""Fit radial basis function networks: units are placed, then their output weights are a linear fit.

The number of units, their widths and the strength of the prior are those of the highest marginal likelihood:

    for n = 1, 2, 3, 4, 6, 8, 12, …        and widths times ¼, ½, 1, 2, 4
        ln p(y | units) with the output weights integrated out (:mod:`.priors`), until it stops rising
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from bayeslearn import validation
from bayeslearn.progress import part, reports_progress, should_stop
from bayeslearn.regression.bayesian_linear import LinearFit, best, collect
from bayeslearn.regression.feature_encoding import Features
from bayeslearn.regression.fit_results import RBFFitInfo, TriedUnits, with_info
from bayeslearn.regression.rbf import MOST_UNITS, WAYS, RBFBasis, place, typical_width, widths_of
from bayeslearn.regression.regression_model import RegressionModel, learned
from bayeslearn.regression.targets import examples
from bayeslearn.sources import with_options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]

#: By how much the widths are multiplied.
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)

#: Numbers of units tried in a row without improvement, and the largest number.
PATIENCE, MOST_TRIED = 3, 512

#: Rows from which units are selected; of more, a sample.
MOST_ROWS = 10_000


@reports_progress("Fitting radial basis functions")
def fit_rbf(
    data: Any,
    target: Any,
    n_units: int | Literal["auto"] = "auto",
    *,
    centers: str = "k-means",
    width: str | float | Floats = "auto",
    prior: Any = "evidence",
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
) -> RegressionModel:
    """Fit a radial basis function network to numeric targets.

    Parameters
    ----------
    data, target, columns, discrete, sample_weight, max_states
        As in :func:`fit_linear`.
    n_units
        The number of units, or ``"auto"``: that of the highest marginal likelihood, up to `max_units`.
    centers
        ``"all"``, ``"random"``, ``"farthest"``, ``"evidence"``, ``"k-means"`` or ``"em"``; see :mod:`.rbf`.
    width
        ``"auto"``: the distance to the nearest centers (of EM: its standard deviations), times the factor of the
        highest marginal likelihood; ``"nearest"``: without the factor; or standard deviations, one or one per unit.
    prior
        Of the output weights, as in :func:`fit_linear`.
    max_units
        The largest number of units that ``"auto"`` tries.
    random_state
        Seed or generator for the centers.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress`; raising
        StopIteration ends the search with the best units so far.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.

    Returns
    -------
    RegressionModel
        With `fit_info`: the numbers of units that were tried, the error on held-out rows, dropped columns.

    Examples
    --------
    >>> x = np.linspace(0, 6, 40)
    >>> model = fit_rbf({"x": x, "y": np.sin(x)}, "y")
    >>> bool(abs(model.predict({"x": [1.0]})[0] - np.sin(1)) < 0.01)
    True
    """
    began = time.perf_counter()
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    found = examples(
        data, target, columns=columns, discrete=discrete, sample_weight=sample_weight, max_states=max_states
    )
    features = Features.fit(found.inputs, sample_weight=found.sample_weight, every_state=True)
    x = features.standardized(features.encode(found.inputs).matrix)
    with one_thread():
        basis, tried = choose(
            x, found.targets, n_units, centers=centers, width=width, sample_weight=found.sample_weight,
            max_units=max_units, random_state=validation.generator(random_state), progress=progress,
        )  # fmt: skip
        model = learned(features, basis, found, prior)
    return with_info(model, RBFFitInfo, found, prior=prior, tried=tried, began=began)


def one_thread() -> Any:
    """Matrix products and eigenvalues in one thread: of small matrices, several threads mostly wait for each other."""
    return threadpool_limits(limits=1, user_api="blas")


def choose(
    x: Floats, targets: Floats, n_units: int | str, *, centers: str, width: Any, sample_weight: Floats | None,
    max_units: int, random_state: np.random.Generator, progress: Any = None,
) -> tuple[RBFBasis, tuple[TriedUnits, ...]]:  # fmt: skip
    """The units of the highest marginal likelihood for standardized points, and all that were tried."""
    centers = validation.choice("centers", centers, WAYS)
    if isinstance(width, str):
        width = validation.choice("width", width, ["auto", "nearest"])
    known = ~np.isnan(targets).any(axis=1)
    if sample_weight is not None:
        known &= sample_weight > 0
    rows = np.flatnonzero(known)
    if len(rows) > MOST_ROWS and centers != "all":
        rows = np.sort(random_state.choice(rows, MOST_ROWS, replace=False))
    x, targets, w = distinct_rows(x[rows], targets[rows], None if sample_weight is None else sample_weight[rows])
    numbers = counts(n_units, len(x), max_units, centers)
    nested: tuple[Floats, Floats | None] | None = None
    if centers in {"random", "farthest", "evidence", "all"}:
        nested = place(x, numbers[-1], centers, targets=targets, sample_weight=w, random_state=random_state)
        numbers = sorted({min(n, len(nested[0])) for n in numbers}) if centers != "all" else [len(nested[0])]
    best: tuple[float, RBFBasis] | None = None
    tried: list[TriedUnits] = []
    factors: tuple[float, ...] = FACTORS if isinstance(width, str) and width == "auto" else (1.0,)
    since = 0
    for i, n in enumerate(numbers):
        at, own = nested or place(x, n, centers, targets=targets, sample_weight=w, random_state=random_state)
        at = at[:n]
        if centers == "all":  # the nearest row may be anywhere
            own = np.full(len(at), typical_width(x))
        basis = RBFBasis(at, widths_of(x, at, width, own))
        value, chosen, factor, stopped = best_width(
            x, targets, w, basis, factors, tried, part(progress, i / len(numbers), (i + 1) / len(numbers))
        )
        if len(factors) > 1:  # with more units the best factor changes little
            factors = tuple(f for f in FACTORS if factor / 2 <= f <= factor * 2)
        since = 0 if best is None or value > best[0] else since + 1
        if best is None or value > best[0]:
            best = value, chosen
        if stopped or since >= PATIENCE:
            break
    assert best is not None
    return best[1], tuple(tried)


def distinct_rows(x: Floats, targets: Floats, sample_weight: Floats | None) -> tuple[Floats, Floats, Floats]:
    """Different rows in a fixed order with what they weigh together: a row twice is a row of twice the weight."""
    both = np.column_stack([x, targets])
    kept, which = np.unique(both, axis=0, return_inverse=True)
    w = np.bincount(which.ravel(), sample_weight, minlength=len(kept)).astype(np.float64)
    return np.ascontiguousarray(kept[:, : x.shape[1]]), kept[:, x.shape[1] :], w


def best_width(
    x: Floats, targets: Floats, sample_weight: Floats | None, basis: RBFBasis, factors: tuple[float, ...],
    tried: list[TriedUnits], progress: Any,
) -> tuple[float, RBFBasis, float, bool]:  # fmt: skip
    """The factor of the widths with the highest marginal likelihood; `tried` gets all."""
    best: tuple[float, RBFBasis, float] | None = None
    for i, factor in enumerate(factors):
        units = basis.widened(factor)
        value = evidence(units(x), targets, sample_weight)
        tried.append(TriedUnits(units.size, factor, value))
        if best is None or value > best[0]:
            best = value, units, factor
        if should_stop(
            progress, (i + 1) / len(factors), f"{units.size} units, log marginal likelihood {value:.7g}", tried[-1]
        ):
            return *best, True
    assert best is not None
    return *best, False


def evidence(units: Floats, targets: Floats, sample_weight: Floats | None) -> float:
    """ln p(targets | units) under the best prior of the output weights."""
    moments, k = collect(units, targets, sample_weight)
    return float(LinearFit(best(moments, k), moments, k).log_marginal_likelihood().sum())


def counts(n_units: int | str, n: int, max_units: int, centers: str) -> list[int]:
    """The numbers of units to try."""
    if centers == "all":
        return [n]
    if not isinstance(n_units, str):
        return [validation.integer("n_units", n_units, min_value=1, max_value=MOST_UNITS)]
    validation.choice("n_units", n_units, ["auto"])
    top = min(validation.integer("max_units", max_units, min_value=1, max_value=MOST_TRIED), n)
    grown = [1, 2, 3]
    while grown[-1] < top:
        grown.append(max(grown[-2] * 2, grown[-1] + 1))
    return sorted({min(number, top) for number in grown})
