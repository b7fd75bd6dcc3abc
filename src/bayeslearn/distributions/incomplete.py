"""Multivariate normals of which cells are missing: what is there decides, what is missing is expected.

    ln p(x_o) with the seen rows and columns of Σ          E[x_m | x_o] = μ_m + B (x_o − μ_o)          B = Σ_mo Σ_oo⁻¹

Rows that show the same cells are taken together. Sums are about the present means, so nothing cancels:

    n, Σ r δ, Σ r δδᵀ  →  (n, μ + Σrδ/n, Σrδδᵀ − (Σrδ)(Σrδ)ᵀ/n)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.distributions.cholesky import covariance_factor, inverse_of, log_det
from bayeslearn.distributions.moments import JointMoments, Moments, in_range
from bayeslearn.distributions.normal import LOG_2PI
from bayeslearn.distributions.sufficient_statistics import ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def log_densities(mean: Floats, Σ: Floats, x: Floats) -> Floats:
    """ln p of the cells that are there, (n, k), for means (k, d)."""
    log_p = np.zeros((len(x), len(mean)))
    for rows, seen in patterns(x):
        if seen.any():
            L = covariance_factor(spread(Σ, mean.shape)[:, seen][:, :, seen])
            with np.errstate(over="ignore", invalid="ignore"):  # so far away that the density is 0
                z = (x[rows][:, seen] - mean[:, None, seen]) @ np.swapaxes(inverse_of(L), 1, 2)
                squares = (z * z).sum(axis=2).T
            squares[np.isnan(squares)] = np.inf
            log_p[rows] = -(seen.sum() * LOG_2PI + log_det(L) + squares) / 2
    return log_p


def expected_moments(parameters: Any, x: Floats, shares: Floats) -> JointMoments:
    """The moments of the cases, with what is missing expected, for shares (n, k)."""
    mean, Σ = parameters
    n, first = np.zeros(len(mean)), np.zeros(mean.shape)
    second = np.zeros((*mean.shape, mean.shape[1]))
    for rows, seen in patterns(x):
        if not seen.any():
            continue
        w, δ = shares[rows].T, x[rows] - mean[:, None]  # (k, n) and (k, n, d)
        n += w.sum(axis=1)
        if not seen.all():
            B, C = regression(spread(Σ, mean.shape), seen)
            δ[:, :, ~seen] = δ[:, :, seen] @ np.swapaxes(B, 1, 2)
            m = np.flatnonzero(~seen)
            second[:, m[:, None], m] += w.sum(axis=1)[:, None, None] * C
        first += (w[:, None] @ δ)[:, 0]
        second += np.swapaxes(w[:, :, None] * δ, 1, 2) @ δ
    return moved(mean, n, first, second)


def patterns(x: Floats) -> Iterator[tuple[NDArray[np.intp] | slice, NDArray[np.bool_]]]:
    """Rows that show the same cells, and which these are."""
    holes = np.isnan(x)
    if not holes.any():
        yield slice(None), np.ones(x.shape[1], np.bool_)
        return
    _, group = np.unique(np.packbits(holes, axis=1), axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(group.ravel()))[:-1]):
        yield rows, ~holes[rows[0]]


def regression(Σ: Floats, seen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """B and Cov[x_m | x_o] of every component."""
    inverse = inverse_of(covariance_factor(Σ[:, seen][:, :, seen]))
    half = inverse @ Σ[:, seen][:, :, ~seen]  # L⁻¹ Σ_om
    turned = np.swapaxes(half, 1, 2)
    return turned @ inverse, Σ[:, ~seen][:, :, ~seen] - turned @ half


def spread(Σ: Floats, shape: tuple[int, ...]) -> Floats:
    """A covariance for every component, also where they share one."""
    return np.broadcast_to(Σ, (*shape, shape[1]))


def moved(mean: Floats, n: Floats, first: Floats, second: Floats) -> Any:
    """Sums about the present means as moments."""
    with in_range():
        if second.ndim == 2:
            return Moments(n, mean + ratio(first, n), np.maximum(second - ratio(first, n) * first, 0.0))
        shift = ratio(first, n[:, None])
        scatter = second - shift[:, :, None] * first[:, None, :]
    return JointMoments(n, mean + shift, (scatter + np.swapaxes(scatter, 1, 2)) / 2)
