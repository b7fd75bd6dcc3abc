"""Positive definite matrices by their Cholesky factors, many at once: M = L Lᵀ.

No inverse of M is ever formed: xᵀ M⁻¹ x = |L⁻¹ x|² and ln |M| = 2 Σ ln L_jj.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular

from bayeslearn.distributions.sufficient_statistics import require
from bayeslearn.errors import BayeslearnError, EvidenceError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
