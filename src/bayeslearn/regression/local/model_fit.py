"""Fit a local regression: keep the rows, and select the settings that are "auto" by leave-one-out.

Lowess: local fits of one feature.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.progress import reports_progress
from bayeslearn.regression.feature_encoding import Features
from bayeslearn.regression.fit_results import LocalFitInfo, with_info
from bayeslearn.regression.local.model import LocalRegressionModel, as_rows, checked_outputs
from bayeslearn.regression.local.settings import LOCALITIES, Settings
from bayeslearn.regression.targets import Examples, examples, require_rows
from bayeslearn.sources import with_options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from bayeslearn.regression.local.results import LocalFit
    from bayeslearn.tables.markers import Markers


@reports_progress("Fitting local regression")
def fit_local(
    data: Any,
    target: Any,
    *,
    degree: int | Literal["auto"] = 1,
    locality: Literal["neighbors", "kernel", "kernel_neighbors"] = "kernel_neighbors",
    kernel: str = "tricube",
    n_neighbors: int | Literal["auto"] | None = "auto",
    bandwidth: float | Literal["auto"] | None = None,
    ridge: float = 0.0,
    standardize: bool = True,
    noise_sample_size: float = 10.0,
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] = (),
    sample_weight: Any = None,
    max_states: int = 255,
    loo_rows: int | None = 5000,
    random_state: np.random.Generator | int | None = None,
    progress: Any = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> LocalRegressionModel:
    """Fit locally weighted regression: keep the rows, and fit around each query when it is predicted.

    Parameters
    ----------
    data, target, columns, discrete, sample_weight, max_states
        As in :func:`~bayeslearn.regression.fit_linear`; rows without a target are dropped.
    degree
        0, 1 or 2: constant, linear, quadratic; or ``"auto"``.
    locality
        ``"neighbors"``: the nearest rows, all with weight 1; ``"kernel"``: all rows, weighted by the kernel;
        ``"kernel_neighbors"``: the nearest rows, weighted by the kernel.
    kernel
        The weight by distance; see :mod:`.distance_kernels`.
    n_neighbors
        The number of neighbors, at most all rows; ``"auto"`` by leave-one-out.
    bandwidth
        The distance where the kernel ends (of a Gaussian: σ), in standard deviations of the features. None: the
        distance of the farthest neighbor; with ``locality="kernel"`` it is selected by leave-one-out.
    ridge
        The prior precision of the slopes. Fits that the rows do not determine get a small one.
    standardize
        Whether the unit of a feature is its standard deviation.
    noise_sample_size
        The equivalent sample size of the noise of all rows around a query; 0: only the noise there.
    loo_rows, random_state
        The largest number of rows that are left out to select settings, and the seed or generator of their sample.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress`.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.

    Returns
    -------
    LocalRegressionModel
        With `fit_info`: the selected settings, the leave-one-out error, dropped columns.

    Examples
    --------
    >>> x = np.linspace(0, 6, 30)
    >>> model = fit_local({"x": x, "y": np.sin(x)}, "y", degree=2, n_neighbors=12)
    >>> model.predict({"x": [1.5, 4.5]}).round(2)
    array([ 1.  , -0.98])
    """
    began = time.perf_counter()
    data = with_options(as_rows(data), na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    require_rows(data)
    found = examples(
        data, target, columns=columns, discrete=discrete, sample_weight=sample_weight, max_states=max_states
    )
    model = local_model(
        found, degree=degree, locality=locality, kernel=kernel, n_neighbors=n_neighbors, bandwidth=bandwidth,
        ridge=ridge, standardize=standardize, noise_sample_size=noise_sample_size, loo_rows=loo_rows,
        random_state=random_state,
    )  # fmt: skip
    if progress is not None:
        progress(0.0, "leave-one-out")
        _ = model.settings
    return with_info(model, LocalFitInfo, found, began=began)


def local_model(
    found: Examples, *, degree: Any, locality: Any, kernel: str, n_neighbors: Any, bandwidth: Any, ridge: float,
    standardize: bool, noise_sample_size: float, loo_rows: int | None, random_state: Any,
) -> LocalRegressionModel:  # fmt: skip
    """The model of rows, of which those without a target are dropped."""
    features = Features.fit(found.inputs, sample_weight=found.sample_weight, every_state=degree == 0)
    x = features.raw(features.table(found.inputs))
    there = np.flatnonzero(~np.isnan(found.targets).any(axis=1))
    y = found.targets[there]
    w = validation.weights(found.sample_weight, len(x))[there]
    locality = validation.choice("locality", locality, LOCALITIES)
    if locality == "kernel":
        n_neighbors = None
        bandwidth = "auto" if bandwidth is None and kernel != "inverse_square" else bandwidth
    elif n_neighbors is None:
        n_neighbors = "auto"
    given = {"degree": (degree, 1), "n_neighbors": (n_neighbors, 1), "bandwidth": (bandwidth, 1.0)}
    fixed: dict[str, Any] = {name: default if value == "auto" else value for name, (value, default) in given.items()}
    free = frozenset(name for name, (value, _) in given.items() if value == "auto")
    size = validation.number("noise_sample_size", noise_sample_size, min_value=0)
    seed = int(validation.generator(random_state).integers(2**32))
    init = Settings(locality=locality, kernel=kernel, ridge=ridge, **fixed)
    outputs = checked_outputs(y[:, 0] if y.shape[1] == 1 else y, len(there))
    return LocalRegressionModel(
        features, x[there], outputs, w, init, free, standardize, size, loo_rows, seed, tuple(found.names)
    )  # fmt: skip


def lowess(
    x: ArrayLike, y: ArrayLike, *, at: ArrayLike | None = None, frac: float = 2 / 3, degree: int = 1,
    kernel: str = "tricube", sample_weight: ArrayLike | None = None,
) -> LocalFit:  # fmt: skip
    """Smooth y over x by fits to the nearest `frac` of the rows, at the rows or `at` other points.

    With degree 1 and the tricube kernel this is lowess without its robust iterations.

    >>> lowess([0, 1, 2, 3, 4], [0, 1, 2, 3, 4], at=[2.5], frac=0.8).mean
    array([2.5])
    """
    x = validation.float_array("x", x).reshape(-1, 1)
    share = validation.number("frac", frac, above=0, max_value=1)
    k = max(int(share * len(x) + 1e-10), 2)
    model = fit_local(x, y, degree=degree, kernel=kernel, n_neighbors=k, sample_weight=sample_weight)
    return model.local_fits(x if at is None else np.reshape(validation.float_array("at", at), (-1, 1)))
