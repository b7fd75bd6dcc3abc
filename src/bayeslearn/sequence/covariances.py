"""Numbers that depend on each other: normals with a full covariance; missing coordinates are integrated out.

Where a coordinate h of a row is missing and the others o are seen, a state of mean μ and covariance Σ expects

    x̂_h = μ_h + Σ_ho Σ_oo⁻¹ (x_o − μ_o)        and around it the covariance        Σ_hh − Σ_ho Σ_oo⁻¹ Σ_oh

Both go into the statistics, so that EM climbs also with holes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ShapeError
from bayeslearn.families import JointMoments, Moments, NormalInverseWishart
from bayeslearn.families.linalg import log_det, solve_lower, squared_distances
from bayeslearn.families.normal import LOG_2PI
from bayeslearn.families.statistics import frozen, ratio
from bayeslearn.families.wishart import covariance_factor
from bayeslearn.sequence.emissions import NOTHING
from bayeslearn.sequence.normals import NormalBase, spread_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


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

    def default_prior(self, cells: NDArray[Any] | Moments, cases: float) -> NormalInverseWishart:
        """So many cases of the mean and the variances of all rows."""
        mean, var = spread_of(cells)
        return NormalInverseWishart.unit_information(mean, np.diag(var), cases)

    def permuted(self, order: NDArray[np.intp]) -> Self:
        """The states in another order."""
        return replace(self, mean=self.mean[order], covariance=self.covariance[order])

    def _spreads(self, state: int) -> Floats:
        return np.diagonal(self.covariance[state])


### helpers


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
