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
from bayeslearn.components.product import Expected, register_sweep
from bayeslearn.distributions import Counts, StatisticsBundle
from bayeslearn.distributions.cholesky import covariance_factor, inverse_of, log_det
from bayeslearn.distributions.incomplete import moved, spread
from bayeslearn.distributions.normal import LOG_2PI, positive

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.components.product import WeightedProduct
    from bayeslearn.components.rows import Rows
    from bayeslearn.distributions import MultivariateNormal

    Floats = NDArray[np.float64]

#: Rows that one thread takes at a time: the sums are added in this order, however many threads there are.
CHUNK = 1 << 15

#: Rows × components × columns from which on a kernel is worth compiling.
WORTH = 1 << 19

#: Covariances by which what is missing in a row depends on the rest.
VARY_TOGETHER = {"full", "tied"}


@register_sweep(("multivariate_gaussian",))
def expect(model: WeightedProduct, cases: Rows) -> Expected | None:
    """What is expected of rows of numbers; None where compiled code is not worth it, or no row is whole."""
    family, x = model.product.components[0].distribution, cases.cells[0]
    if x.size * len(model.log_weights) < WORTH:
        return None
    if family.covariance in VARY_TOGETHER and np.isnan(x.sum()):
        whole = ~np.isnan(x).any(axis=1)
        if not whole.any():
            return None
        if not whole.all():
            return compiled(model, cases.take(whole)) + model.expect_by_blocks(cases.take(~whole))
    return compiled(model, cases)


def compiled(model: WeightedProduct, cases: Rows) -> Expected:
    """Shares, moments and log likelihood in one pass of compiled code; rows are whole where columns vary together."""
    part, x = model.product.components[0], cases.cells[0]
    family, parameters = part.distribution, model.parameters[0]
    joint = family.covariance in VARY_TOGETHER
    prepared = (_full if joint else _diagonal)(family, model.log_weights, parameters)
    w = np.empty(0) if cases.sample_weight is None else cases.sample_weight
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
        moments = moved(mean, share, sums[0][:, :d], second[:, :d, :d])
    else:
        moments = moved(mean, *(s[:, :d] for s in sums))
    return Expected(Counts(share), StatisticsBundle({part.name: moments}), float(log_p))


def _diagonal(family: MultivariateNormal, log_weights: Floats, parameters: Any) -> tuple[Floats, ...]:
    mean, var = parameters
    var = positive(np.broadcast_to(var if np.ndim(var) == 2 else var[:, None], mean.shape))
    center = mean.mean(axis=0)
    logs = -(LOG_2PI + np.log(var)) / 2
    return log_weights, center, *(padded(a, family.dim) for a in (mean - center, np.sqrt(0.5 / var), logs))


def _full(family: MultivariateNormal, log_weights: Floats, parameters: Any) -> tuple[Floats, ...]:
    mean, Σ = parameters
    L = spread(covariance_factor(Σ), mean.shape)
    inverse = inverse_of(L)
    constant = log_weights - (family.dim * LOG_2PI + log_det(L)) / 2
    center, factor = mean.mean(axis=0), padded(padded(inverse * np.sqrt(0.5), family.dim), family.dim, axis=1)
    return constant, center, padded(mean - center, family.dim), factor


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
