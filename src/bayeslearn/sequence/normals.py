"""Numbers: independent normals, or normals with a full covariance; missing coordinates are integrated out.

Where a coordinate h of a row is missing and the others o are seen, a state of mean μ and covariance Σ expects

    x̂_h = μ_h + Σ_ho Σ_oo⁻¹ (x_o − μ_o)        and around it the covariance        Σ_hh − Σ_ho Σ_oo⁻¹ Σ_oh

Both go into the statistics, so that EM climbs also with holes. Variances have a floor, far below what the data show:
without it one row alone in a state would have an infinite density.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ShapeError
from bayeslearn.families import JointMoments, Moments, NormalInverseGamma, NormalInverseWishart
from bayeslearn.families.linalg import log_det, solve_lower, squared_distances
from bayeslearn.families.moments import real_cells
from bayeslearn.families.normal import LOG_2PI, normal_log_density, positive
from bayeslearn.families.statistics import frozen, ratio
from bayeslearn.families.wishart import covariance_factor
from bayeslearn.sequence.emissions import NOTHING, Emissions
from bayeslearn.sequence.observing import Normals
from bayeslearn.sequence.symbols import as_objects, is_missing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: The floor of a variance, as a share of that of the data.
FLOOR = 1e-9


class NormalBase(Emissions):
    """What both kinds share: means of named columns."""

    columns: tuple[str, ...]
    mean: Floats
    floor: Floats | float

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(self.mean)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.columns

    def cells(self, x: Any) -> Floats:
        """Rows of finite numbers; NaN is missing."""
        return real_cells(number_rows(x), len(self.columns))

    def floored(self, cells: Floats) -> Self:
        """Variances that cannot fall below a small share of that of the data."""
        return self if np.all(self.floor) else replace(self, floor=FLOOR * spread_of(cells)[1])  # type: ignore[type-var]

    def centres(self) -> Floats:
        """The means of the first column."""
        return self.mean[:, 0]

    def _check_mean(self) -> Floats:
        mean = validation.float_array("mean", self.mean)
        mean = mean[:, None] if mean.ndim == 1 else mean
        if mean.ndim != 2 or mean.shape[1] != len(self.columns) or not np.isfinite(mean).all():
            raise ShapeError(f"expected finite means of shape (states, {len(self.columns)}), got {self.mean!r:.80}")
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "mean", frozen(mean))
        return mean

    def _spreads(self, state: int) -> Floats:
        raise NotImplementedError

    def described(self, state: int, most: int = 3) -> str:
        """Mean ± deviation of each column."""
        spread = np.sqrt(self._spreads(state))
        parts = [f"{m:.4g} ± {s:.3g}" for m, s in zip(self.mean[state], spread, strict=True)]
        if len(parts) > 1:
            parts = [f"{name} {part}" for name, part in zip(self.columns, parts, strict=True)]
        return ", ".join(parts[:most]) + (", …" if len(parts) > most else "")


@dataclass(frozen=True, eq=False)
class NormalEmissions(NormalBase):
    """Columns that are independent given the state, each normal: means and variances (S, columns).

    >>> NormalEmissions(("heat",), [[10.0], [20.0]], [[4.0], [9.0]]).described(0)
    '10 ± 2'
    """

    kind: ClassVar[str] = "gaussian"

    columns: tuple[str, ...]
    mean: Floats
    var: Floats
    floor: Floats | float = 0.0

    def __post_init__(self) -> None:
        mean = self._check_mean()
        var = positive(
            np.broadcast_to(validation.float_array("var", self.var).reshape(np.shape(self.mean)), mean.shape)
        )
        object.__setattr__(self, "var", frozen(var))
        object.__setattr__(self, "floor", frozen(np.broadcast_to(self.floor, mean.shape[1:])))

    def log_prob(self, cells: NDArray[Any]) -> Floats:
        """Σ_d ln N(x_d | μ_d, σ²_d), without the coordinates that are missing."""
        return normal_log_density((cells[:, None, :] - self.mean) ** 2, self.var).sum(axis=-1)

    def draw(self, states: NDArray[np.intp], rng: np.random.Generator) -> Floats:
        """Rows at random."""
        return self.mean[states] + np.sqrt(self.var[states]) * rng.standard_normal((len(states), len(self.columns)))

    def reading(self, cells: NDArray[Any]) -> Normals:
        """A kernel of its own."""
        return Normals(cells, self.mean, self.var)

    def gather(self, cells: NDArray[Any], gamma: Floats) -> Moments:
        """Moments of each state and column."""
        reading = self.reading(cells)
        totals = reading.totals()
        reading.take_rows(slice(None), gamma, totals)
        return reading.statistics(totals)

    def estimate(self, prior: NormalInverseGamma, statistics: Moments) -> Self:
        """Posterior means of μ and σ², where there is something to rest on."""
        after = prior.of(self.mean.shape).plus(statistics)
        mean = np.where(after.kappa > NOTHING, after.mu, self.mean)
        cases = after.alpha - 1
        var = np.where(cases > NOTHING, after.beta / np.where(cases > NOTHING, cases, 1.0), self.var)
        return replace(self, mean=mean, var=np.maximum(var, self.floor))

    def log_prior(self, prior: NormalInverseGamma) -> float:
        """−(α − 1) ln σ² − (β + κ(μ − m)²/2) / σ²."""
        before = prior.of(self.mean.shape)
        spread = before.beta + before.kappa * (self.mean - before.mu) ** 2 / 2
        return float((-(before.alpha - 1) * np.log(self.var) - spread / self.var).sum())

    def default_prior(self, cells: NDArray[Any], cases: float) -> NormalInverseGamma:
        """So many cases of the mean and variance of all rows."""
        return NormalInverseGamma.unit_information(*spread_of(cells), cases)

    def permuted(self, order: NDArray[np.intp]) -> Self:
        """The states in another order."""
        return replace(self, mean=self.mean[order], var=self.var[order])

    def _spreads(self, state: int) -> Floats:
        return self.var[state]


@dataclass(frozen=True, eq=False)
class FullNormalEmissions(NormalBase):
    """Columns that depend on each other: means (S, d) and covariances (S, d, d)."""

    kind: ClassVar[str] = "full"

    columns: tuple[str, ...]
    mean: Floats
    covariance: Floats
    floor: Floats | float = 0.0

    def __post_init__(self) -> None:
        mean = self._check_mean()
        Σ = validation.float_array("covariance", self.covariance)
        if Σ.shape != (*mean.shape, mean.shape[1]):
            raise ShapeError(f"expected covariances of shape {(*mean.shape, mean.shape[1])}, got {Σ.shape}")
        object.__setattr__(self, "covariance", frozen(Σ))
        covariance_factor(Σ)  # is there one?
        object.__setattr__(self, "floor", frozen(np.broadcast_to(self.floor, mean.shape[1:])))

    def log_prob(self, cells: NDArray[Any]) -> Floats:
        """ln N(x_o | μ_o, Σ_oo) of the coordinates o that are seen."""
        found = np.zeros((len(cells), self.size))
        for rows, seen in patterns(cells):
            if seen.any():
                L = covariance_factor(self.covariance[:, seen][:, :, seen])
                square = squared_distances(cells[rows][:, seen], self.mean[:, seen], L)
                found[rows] = -(seen.sum() * LOG_2PI + log_det(L) + square) / 2
        return found

    def draw(self, states: NDArray[np.intp], rng: np.random.Generator) -> Floats:
        """Rows at random."""
        z = rng.standard_normal((len(states), len(self.columns)))
        return self.mean[states] + np.einsum("tij,tj->ti", covariance_factor(self.covariance)[states], z)

    def gather(self, cells: NDArray[Any], gamma: Floats) -> JointMoments:
        """Expected moments about the present means, moved to the new ones; rows without any coordinate say nothing."""
        n, first = np.zeros(self.size), np.zeros(self.mean.shape)
        second = np.zeros(self.covariance.shape)
        for rows, seen in patterns(cells):
            if not seen.any():
                continue
            for j in range(self.size):
                w = gamma[rows, j]
                off, left = self.completed(j, cells[rows], seen)
                n[j] += w.sum()
                first[j] += w @ off
                second[j] += (w[:, None] * off).T @ off + w.sum() * left
        slip = ratio(first, n[:, None])
        scatter = second - n[:, None, None] * slip[:, :, None] * slip[:, None, :]
        return JointMoments(n, self.mean + slip, (scatter + np.swapaxes(scatter, 1, 2)) / 2)

    def completed(self, j: int, x: Floats, seen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """x̂ − μ of rows that show the same coordinates, and the covariance of what is hidden."""
        off, left = np.zeros(x.shape), np.zeros(self.covariance.shape[1:])
        off[:, seen] = x[:, seen] - self.mean[j, seen]
        if not seen.all():
            hidden = ~seen
            Σ = self.covariance[j]
            L = covariance_factor(Σ[np.ix_(seen, seen)])
            across = solve_lower(L, Σ[np.ix_(seen, hidden)])
            off[:, hidden] = solve_lower(L, off[:, seen].T).T @ across
            left[np.ix_(hidden, hidden)] = Σ[np.ix_(hidden, hidden)] - across.T @ across
        return off, left

    def estimate(self, prior: NormalInverseWishart, statistics: JointMoments) -> Self:
        """Posterior means of μ and Σ, where there is something to rest on."""
        d = len(self.columns)
        after = prior.of(self.mean.shape).plus(statistics)
        mean = np.where((after.kappa > NOTHING)[:, None], after.mu, self.mean)
        cases = after.nu - d - 1
        alive = (cases > NOTHING)[:, None, None]
        Σ = np.where(alive, after.psi / np.where(alive, cases[:, None, None], 1.0), self.covariance)
        return replace(self, mean=mean, covariance=raised(Σ, np.asarray(self.floor)))

    def log_prior(self, prior: NormalInverseWishart) -> float:
        """−½ (ν − d − 1) ln|Σ| − ½ tr (Ψ + κ(μ − m)(μ − m)ᵀ) Σ⁻¹."""
        before, d = prior.of(self.mean.shape), len(self.columns)
        off = self.mean - before.mu
        spread = before.psi + before.kappa[:, None, None] * off[:, :, None] * off[:, None, :]
        L = covariance_factor(self.covariance)
        trace = np.einsum("sii->s", np.linalg.solve(self.covariance, spread))
        return float((-(before.nu - d - 1) * log_det(L) - trace).sum() / 2)

    def default_prior(self, cells: NDArray[Any], cases: float) -> NormalInverseWishart:
        """So many cases of the mean and the variances of all rows."""
        mean, var = spread_of(cells)
        return NormalInverseWishart.unit_information(mean, np.diag(var), cases)

    def permuted(self, order: NDArray[np.intp]) -> Self:
        """The states in another order."""
        return replace(self, mean=self.mean[order], covariance=self.covariance[order])

    def _spreads(self, state: int) -> Floats:
        return np.diagonal(self.covariance[state])


### helpers


def number_rows(x: Any) -> Floats:
    """Rows of numbers, also from lists with holes; one column may come without brackets."""
    array = x if isinstance(x, np.ndarray) else as_objects(x)
    if array.dtype == object:
        flat = [np.nan if is_missing(cell) else cell for cell in array.ravel()]
        array = validation.float_array("x", flat).reshape(array.shape)
    array = validation.float_array("x", array)
    return array[:, None] if array.ndim == 1 else array


def spread_of(cells: Floats) -> tuple[Floats, Floats]:
    """Means and variances of columns; 1 for the variance of a column that does not vary."""
    if np.isnan(cells.sum()):
        seen = ~np.isnan(cells)
        n = np.maximum(seen.sum(axis=0), 1)
        mean = np.where(seen, cells, 0.0).sum(axis=0) / n
        var = np.where(seen, (cells - mean) ** 2, 0.0).sum(axis=0) / n
    else:
        mean, var = cells.mean(axis=0), cells.var(axis=0)
    tiny = 1e-24 * np.maximum(mean * mean, 1.0)
    return mean, np.where(var > tiny, var, 1.0)


def raised(Σ: Floats, floor: Floats) -> Floats:
    """The nearest covariances in likelihood with no direction below the floor: eigenvalues of Σ/floor at least 1."""
    if not floor.all():
        return Σ
    scale = np.sqrt(floor[:, None] * floor)
    values, vectors = np.linalg.eigh(Σ / scale)
    if (values >= 1).all():
        return Σ
    lifted = np.einsum("sij,sj,skj->sik", vectors, np.maximum(values, 1.0), vectors) * scale
    fine = np.asarray((values >= 1).all(axis=1))[:, None, None]
    return np.where(fine, Σ, (lifted + np.swapaxes(lifted, 1, 2)) / 2)


def patterns(cells: Floats) -> Iterator[tuple[Any, NDArray[np.bool_]]]:
    """Rows that show the same coordinates, and which these are."""
    seen = ~np.isnan(cells)
    if seen.all():
        yield slice(None), np.ones(cells.shape[1], np.bool_)
        return
    different, which = np.unique(seen, axis=0, return_inverse=True)
    for k, pattern in enumerate(different):
        yield np.flatnonzero(which.ravel() == k), pattern
