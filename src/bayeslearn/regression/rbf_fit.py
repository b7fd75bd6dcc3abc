"""Radial basis function networks, learned: units are placed, then their output weights are a linear fit.

How many units, how wide, and how strong the prior of their weights is: as the evidence asks for.

    for k = 1, 2, 3, 4, 6, 8, 12, …        and widths times ¼, ½, 1, 2, 4
        ln p(y | units) with the output weights integrated out (:mod:`.priors`), until it has not risen for a while
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import em, validation
from bayeslearn.regression.bayesian_linear import LinearFit, collect
from bayeslearn.regression.feature_encoding import Features
from bayeslearn.regression.priors import best
from bayeslearn.regression.rbf import MOST_UNITS, WAYS, RBFBasis, place, typical_width, widths_of
from bayeslearn.regression.regression_model import RegressionModel, learned
from bayeslearn.regression.targets import examples
from bayeslearn.sources import with_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]

#: By how much the widths are multiplied.
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)

#: Numbers of units in a row that are tried without being better, and the most that are tried.
PATIENCE, MOST_TRIED = 3, 512

#: Rows that units are chosen by; more are sampled.
MOST_ROWS = 10_000


@dataclass(frozen=True)
class TriedUnits:
    """One choice of units: how many, how wide, how strong a prior, and ln p(outputs) under it."""

    units: int
    factor: float
    log_evidence: float


@dataclass(frozen=True)
class RBFFitInfo:
    """The network that was chosen, and all that was tried."""

    model: RegressionModel
    tried: tuple[TriedUnits, ...]

    @property
    def basis(self) -> RBFBasis:
        """Its units."""
        assert self.model.basis is not None
        return self.model.basis


def fit_rbf(
    data: Any,
    target: Any,
    k: int | Literal["auto"] = "auto",
    *,
    centers: str = "k-means",
    width: str | float | Floats = "auto",
    prior: Any = "evidence",
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] = (),
    sample_weight: Any = None,
    most: int = 128,
    max_states: int = 255,
    left_out: dict[str, str] | None = None,
    random_state: np.random.Generator | int | None = 0,
    progress: Callable[[TriedUnits], object] | None = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> RBFFitInfo:
    """Learn a radial basis function network.

    Parameters
    ----------
    data, target, columns, discrete, sample_weight, max_states, left_out
        As in :func:`fit_linear`.
    k
        How many units, or ``"auto"``: as many as have the highest evidence, `most` at most.
    centers
        ``"all"``, ``"random"``, ``"farthest"``, ``"evidence"``, ``"k-means"`` or ``"em"``; see :mod:`.radial`.
    width
        ``"auto"``: the distance to the nearest centers (of EM: its standard deviations), times the factor that has the
        highest evidence; ``"nearest"``: without the factor; or a number of standard deviations, for all or for each.
    prior
        Of the output weights, as in :func:`fit_linear`.
    progress
        Called with every :class:`TriedUnits`; raising StopIteration ends the search with the best so far.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.

    Examples
    --------
    >>> x = np.linspace(0, 6, 40)
    >>> found = fit_rbf({"x": x, "y": np.sin(x)}, "y")
    >>> bool(abs(found.model.predict({"x": [1.0]})[0, 0] - np.sin(1)) < 0.01)
    True
    """
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    found = examples(
        data,
        target,
        columns=columns,
        discrete=discrete,
        sample_weight=sample_weight,
        max_states=max_states,
        left_out=left_out,
    )
    features = Features.learn(found.inputs, sample_weight=found.sample_weight, every_state=True)
    x = features.standardized(features.encode(found.inputs).matrix)
    basis, tried = choose(
        x, found.targets, k, centers=centers, width=width, sample_weight=found.sample_weight, most=most,
        random_state=validation.generator(random_state), progress=progress,
    )  # fmt: skip
    return RBFFitInfo(learned(features, basis, found, prior), tried)


def choose(
    x: Floats, targets: Floats, k: int | str, *, centers: str, width: Any, sample_weight: Floats | None, most: int,
    random_state: np.random.Generator, progress: Callable[[TriedUnits], object] | None = None,
) -> tuple[RBFBasis, tuple[TriedUnits, ...]]:  # fmt: skip
    """The units with the highest evidence for standardized points, and all that were tried."""
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
    numbers = counts(k, len(x), most, centers)
    nested: tuple[Floats, Floats | None] | None = None
    if centers in {"random", "farthest", "evidence", "all"}:
        nested = place(x, numbers[-1], centers, targets=targets, sample_weight=w, random_state=random_state)
        numbers = sorted({min(n, len(nested[0])) for n in numbers}) if centers != "all" else [len(nested[0])]
    best: tuple[float, RBFBasis] | None = None
    tried: list[TriedUnits] = []
    factors: tuple[float, ...] = FACTORS if isinstance(width, str) and width == "auto" else (1.0,)
    since = 0
    for n in numbers:
        at, own = nested or place(x, n, centers, targets=targets, sample_weight=w, random_state=random_state)
        at = at[:n]
        if centers == "all":  # the nearest example may be anywhere
            own = np.full(len(at), typical_width(x))
        basis = RBFBasis(at, widths_of(x, at, width, own))
        value, chosen, factor, stopped = best_width(x, targets, w, basis, factors, tried, progress)
        if len(factors) > 1:  # with more units it changes little
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
    tried: list[TriedUnits], progress: Callable[[TriedUnits], object] | None,
) -> tuple[float, RBFBasis, float, bool]:  # fmt: skip
    """The factor of the widths with the highest evidence; what was tried is noted."""
    best: tuple[float, RBFBasis, float] | None = None
    for factor in factors:
        units = basis.widened(factor)
        value = evidence(units(x), targets, sample_weight)
        tried.append(TriedUnits(units.size, factor, value))
        if best is None or value > best[0]:
            best = value, units, factor
        if em.should_stop(progress, tried[-1]):
            return *best, True
    assert best is not None
    return *best, False


def evidence(units: Floats, targets: Floats, sample_weight: Floats | None) -> float:
    """ln p(targets | units), with the prior of the output weights as strong as is best."""
    moments, k = collect(units, targets, sample_weight)
    return float(LinearFit(best(moments, k), moments, k).log_evidence().sum())


def counts(k: int | str, n: int, most: int, centers: str) -> list[int]:
    """The numbers of units to try."""
    if centers == "all":
        return [n]
    if not isinstance(k, str):
        return [validation.integer("k", k, min_value=1, max_value=MOST_UNITS)]
    k = validation.choice("k", k, ["auto"])
    top = min(validation.integer("most", most, min_value=1, max_value=MOST_TRIED), n)
    grown = [1, 2, 3]
    while grown[-1] < top:
        grown.append(max(grown[-2] * 2, grown[-1] + 1))
    return sorted({min(number, top) for number in grown})
