"""Gaussian components: densities and expected moments, with missing cells integrated out exactly.

Where variances stand for themselves (diagonal, spherical) a missing cell adds nothing. Where columns vary together
(full, tied) what is missing, m, is expected given what is there, o, component by component:

    E[x_m] = μ_m + B (x_o − μ_o)        B = Σ_mo Σ_oo⁻¹        Cov[x_m] = Σ_mm − B Σ_om

and both enter the moments. Rows with the same cells missing are taken together. All sums are taken about the present
means, so that little cancels:  n, Σ r δ, Σ r δδᵀ  →  (n, μ + Σrδ/n, Σrδδᵀ − (Σrδ)(Σrδ)ᵀ/n).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels
from bayeslearn.distributions import Counts
from bayeslearn.distributions.cholesky import covariance_factor, inverse_of, log_det
from bayeslearn.distributions.incomplete import moved, spread
from bayeslearn.distributions.normal import LOG_2PI, positive

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.distributions import MultivariateNormal

    Floats = NDArray[np.float64]

#: Rows that one thread takes at a time: the sums are added in this order, however many threads there are.
CHUNK = 1 << 15

#: Rows × components × columns from which on a kernel is worth compiling.
WORTH = 1 << 19


def expected(
    family: MultivariateNormal, log_weights: Floats, parameters: Any, x: Floats, weights: Floats | None
) -> tuple[Counts, Any, float]:
    """Shares, moments and log likelihood in one pass of compiled code; rows are whole where columns vary together."""
    joint = family.covariance in {"full", "tied"}
    prepared = (_full if joint else _diagonal)(family, log_weights, parameters)
    w = np.empty(0) if weights is None else weights
    run: Callable[..., float] = kernels.expect_full if joint else kernels.expect_diagonal
    data = read_only(np.ascontiguousarray(x)), read_only(w)
    k, padded = prepared[2].shape

    def collect(start: int) -> tuple[Any, ...]:
        sums = [np.zeros(k), *([] if joint else [np.zeros((k, padded))]), np.zeros((k, padded))]
        sums.append(np.zeros((k, padded, padded) if joint else (k, padded)))
        return run(*data, *prepared, start, min(start + CHUNK, len(x)), *sums), *sums

    found = kernels.parallel(collect, range(0, len(x), CHUNK))
    log_p, share, *sums = (sum(parts) for parts in zip(*found, strict=True))
    d, mean = family.dim, np.asarray(parameters[0])
    if joint:
        second = np.tril(sums[1]) + np.swapaxes(np.tril(sums[1], -1), 1, 2)
        return Counts(share), moved(mean, share, sums[0][:, :d], second[:, :d, :d]), float(log_p)
    return Counts(share), moved(mean, *(s[:, :d] for s in sums)), float(log_p)


def _diagonal(family: MultivariateNormal, log_weights: Floats, parameters: Any) -> tuple[Floats, ...]:
    mean, var = parameters
    var = positive(np.broadcast_to(var if np.ndim(var) == 2 else var[:, None], mean.shape))
    centre = mean.mean(axis=0)
    logs = -(LOG_2PI + np.log(var)) / 2
    return log_weights, centre, *(padded(a, family.dim) for a in (mean - centre, np.sqrt(0.5 / var), logs))


def _full(family: MultivariateNormal, log_weights: Floats, parameters: Any) -> tuple[Floats, ...]:
    mean, Σ = parameters
    L = spread(covariance_factor(Σ), mean.shape)
    inverse = inverse_of(L)
    constant = log_weights - (family.dim * LOG_2PI + log_det(L)) / 2
    centre, factor = mean.mean(axis=0), padded(padded(inverse * np.sqrt(0.5), family.dim), family.dim, axis=1)
    return constant, centre, padded(mean - centre, family.dim), factor


def padded(array: Floats, d: int, axis: int = -1) -> Floats:
    """Zeros to a multiple of four."""
    widths = [(0, 0)] * array.ndim
    widths[axis] = (0, -d % 4)
    return np.pad(array, widths)


def read_only(array: Floats) -> Floats:
    """Compiled once, whether the caller may write to it or not."""
    view = array.view()
    view.flags.writeable = False
    return view
