"""Student's t: what a normal looks like when its variance is only known through a posterior.

    x = μ + s z / √(g/ν)        z ~ N(0, 1), g ~ χ²(ν)

One number at a time (:class:`StudentT`), columns that share g or do not (:class:`IndependentT`), and a whole vector
with a scale matrix (:class:`MultivariateT`). Leading axes are rows of parameters.

Positive definite matrices are their Cholesky factors, many at once, M = L Lᵀ. No inverse of M is ever formed: xᵀ M⁻¹ x
= |L⁻¹ x|² and ln |M| = 2 Σ ln L_jj.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import betaln, gammaln, stdtrit

from bayeslearn import validation
from bayeslearn.distributions.moments import missing_rows, pooled, real_cells
from bayeslearn.distributions.sufficient_statistics import frozen, paired, require, shown
from bayeslearn.errors import BayeslearnError, EvidenceError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


#: A column is taken for a mixture of the others when less than this share of its variance is its own.
COLLINEAR = 1e-13


def cholesky(
    matrix: NDArray[np.float64], *, message: str, hint: str, error: type[BayeslearnError] = EvidenceError
) -> NDArray[np.float64]:
    """L of M = L Lᵀ for shape (*rows, d, d); the error names the first row that has none."""
    scale = np.sqrt(np.maximum(np.diagonal(matrix, axis1=-2, axis2=-1), 0.0))
    require((scale > 0).all(axis=-1), message, hint=hint, error=error)
    correlation = matrix / (scale[..., :, None] * scale[..., None, :])
    try:
        factor = np.linalg.cholesky(correlation)
    except np.linalg.LinAlgError:
        own = np.linalg.eigvalsh(correlation).min(axis=-1, initial=1.0)
    else:
        own = np.diagonal(factor, axis1=-2, axis2=-1).min(axis=-1, initial=1.0) ** 2
    require(np.asarray(own > COLLINEAR), message, hint=hint, error=error)
    return scale[..., :, None] * factor


def covariance_factor(Σ: NDArray[np.float64]) -> NDArray[np.float64]:
    """The Cholesky factor of covariances that a density can be computed with."""
    return cholesky(
        Σ,
        message="a density needs covariances that are positive definite",
        hint="a covariance of few cases is singular: give a prior such as unit_information(...), or another kind",
        error=ParameterError,
    )


def inverse_of(factor: NDArray[np.float64]) -> NDArray[np.float64]:
    """L⁻¹ of small Cholesky factors, many at once; rows are scaled first, so that units do not matter."""
    scale = np.linalg.norm(factor, axis=-1)
    return np.tril(np.linalg.inv(factor / scale[..., :, None])) / scale[..., None, :]


def log_det(factor: NDArray[np.float64]) -> NDArray[np.float64]:
    """ln |L Lᵀ|."""
    return 2 * np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)


def solve_lower(factor: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """L⁻¹ B for every row; B of shape (*rows, d, m)."""
    rows = np.broadcast_shapes(factor.shape[:-2], right.shape[:-2])
    factor, right = (np.broadcast_to(a, (*rows, *a.shape[-2:])) for a in (factor, right))
    solved = np.empty(right.shape)
    for row in np.ndindex(rows):
        solved[row] = solve_triangular(factor[row], right[row], lower=True, check_finite=False)
    return solved


def squared_distances(
    x: NDArray[np.float64], mean: NDArray[np.float64], factor: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(x − μ)ᵀ (L Lᵀ)⁻¹ (x − μ) of n cases from every row: shape (n, *rows)."""
    rows = mean.shape[:-1]
    factor = np.broadcast_to(factor, (*rows, *factor.shape[-2:]))
    distances = np.empty((len(x), *rows))
    for row in np.ndindex(rows):
        with np.errstate(over="ignore", invalid="ignore"):  # far away the density is 0
            z = solve_triangular(factor[row], (x - mean[row]).T, lower=True, check_finite=False)
            distances[:, *row] = np.nan_to_num((z * z).sum(axis=0), nan=np.inf)
    return distances


def log_density(
    dof: NDArray[np.float64], square: NDArray[np.float64], log_scale: NDArray[np.float64], d: ArrayLike = 1
) -> NDArray[np.float64]:
    """ln Γ((ν+d)/2) − ln Γ(ν/2) − d/2 ln νπ − ln s − (ν+d)/2 ln(1 + q/ν) for d numbers at squared distance q."""
    d = np.asarray(d, dtype=float)
    some = np.maximum(d, 1)  # of no numbers at all, the density is 1
    gammas = gammaln(some / 2) - betaln(some / 2, dof / 2)
    log_p = gammas - d / 2 * np.log(dof * np.pi) - log_scale - (dof + d) / 2 * np.log1p(square / dof)
    return np.where(d == 0, 0.0, log_p)


@dataclass(frozen=True, eq=False)
class StudentT:
    """A number, of shape rows.

    >>> StudentT(4, 10, 2).interval(0.95)                          # 10 ± 2 · 2.776
    (array(4.44710979), array(15.55289021))
    """

    dof: NDArray[np.float64]
    location: NDArray[np.float64]
    scale: NDArray[np.float64]

    def __post_init__(self) -> None:
        shape = np.broadcast_shapes(*(np.shape(a) for a in (self.dof, self.location, self.scale)))
        object.__setattr__(self, "location", frozen(np.broadcast_to(self.location, shape)))
        object.__setattr__(self, "scale", frozen(np.broadcast_to(self.scale, shape)))
        dof = frozen(self.dof)
        object.__setattr__(self, "dof", dof if dof.ndim == len(shape) else frozen(np.broadcast_to(dof, shape)))

    def __repr__(self) -> str:
        return f"t(ν={shown(self.dof)}, μ={shown(self.location)}, s={shown(self.scale)})"

    def log_pdf(self, x: ArrayLike) -> NDArray[np.float64]:
        """Log density entry by entry; `x` has the shape of the distribution."""
        z = (validation.float_array("x", x) - self.location) / self.scale
        return log_density(self.dof, z * z, np.log(self.scale))

    def log_prob(self, x: ArrayLike) -> NDArray[np.float64]:
        """Log density of each case in every row, (n, *rows); 0 where x is missing."""
        cases, location = paired(real_cells(x), None, self.location)
        z = (cases - location) / self.scale
        return np.where(np.isnan(z), 0.0, log_density(self.dof, z * z, np.log(self.scale)))

    def mean(self) -> NDArray[np.float64]:
        """μ, when ν > 1."""
        require(
            self.dof > 1,
            "the mean is undefined: there is at most one degree of freedom",
            hint="read off `location`, the median, or give more cases",
        )
        return self.location

    def draw(self, n: int, random_state: np.random.Generator | int | None = None) -> NDArray[np.float64]:
        """`n` cases at random, (n, *rows)."""
        random_state = validation.generator(random_state)
        z = random_state.standard_normal((n, *self.location.shape))
        return self.location + self.scale * z / np.sqrt(
            random_state.chisquare(self.dof, (n, *self.dof.shape)) / self.dof
        )

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Equal-tailed bounds (low, high)."""
        tail = (1 - validation.number("level", level, above=0, below=1)) / 2
        half = -stdtrit(self.dof, tail) * self.scale
        return np.asarray(self.location - half), np.asarray(self.location + half)


@dataclass(frozen=True, eq=False)
class IndependentT(StudentT):
    """A vector whose columns have their own g (ν of shape (*rows, d)) or share one (ν of shape (*rows, 1))."""

    def log_prob(self, x: ArrayLike) -> NDArray[np.float64]:
        """Log density of each case (n, d) in every row; a missing cell is integrated out."""
        cases, location = paired(real_cells(x, self.location.shape[-1]), None, self.location, event=1)
        z = (cases - location) / self.scale
        seen = ~np.isnan(z)
        shape = (len(z), *self.dof.shape)
        d = pooled(seen.astype(float), shape)
        square = pooled(np.where(seen, z * z, 0.0), shape)
        log_scale = pooled(np.where(seen, np.log(self.scale), 0.0), shape)
        return log_density(self.dof, square, log_scale, d).sum(axis=-1)


@dataclass(frozen=True, eq=False)
class MultivariateT:
    """A vector with scale matrix L Lᵀ: shapes rows, (*rows, d) and (*rows, d, d)."""

    dof: NDArray[np.float64]
    location: NDArray[np.float64]
    factor: NDArray[np.float64]

    def __repr__(self) -> str:
        scale = self.factor @ np.swapaxes(self.factor, -1, -2)
        return f"t(ν={shown(self.dof)}, μ={shown(self.location)}, S={shown(scale)})"

    @property
    def marginal(self) -> StudentT:
        """The marginal of each column."""
        return StudentT(self.dof[..., None], self.location, np.sqrt((self.factor**2).sum(axis=-1)))

    def log_prob(self, x: ArrayLike) -> NDArray[np.float64]:
        """Log density of each case (n, d) in every row; 0 for a case that is missing altogether."""
        d = self.location.shape[-1]
        cases = real_cells(x, d)
        gone = missing_rows(cases)
        square = squared_distances(np.where(gone[:, None], 0.0, cases), self.location, self.factor)
        log_p = log_density(self.dof, square, log_det(self.factor) / 2, d)
        return np.where(gone.reshape(-1, *[1] * (log_p.ndim - 1)), 0.0, log_p)

    def mean(self) -> NDArray[np.float64]:
        """μ, when ν > 1."""
        return self.marginal.mean()

    def draw(self, n: int, random_state: np.random.Generator | int | None = None) -> NDArray[np.float64]:
        """`n` cases at random, (n, *rows, d)."""
        random_state = validation.generator(random_state)
        z = random_state.standard_normal((n, *self.location.shape))
        g = random_state.chisquare(self.dof, (n, *self.location.shape[:-1])) / self.dof
        return self.location + np.einsum("...ij,...j->...i", self.factor, z) / np.sqrt(g)[..., None]

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Equal-tailed bounds (low, high) of the marginal of each column."""
        return self.marginal.interval(level)
