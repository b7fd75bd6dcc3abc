"""Gaussian components: densities and expected moments, with missing cells integrated out exactly.

Where variances stand for themselves (diagonal, spherical) a missing cell adds nothing. Where columns vary together
(full, tied) what is missing, m, is expected given what is there, o, component by component:

    E[x_m] = μ_m + B (x_o − μ_o)        B = Σ_mo Σ_oo⁻¹        Cov[x_m] = Σ_mm − B Σ_om

and both enter the moments. Rows with the same cells missing are taken together. All sums are taken about the present
means, so that little cancels:  n, Σ r δ, Σ r δδᵀ  →  (n, μ + Σrδ/n, Σrδδᵀ − (Σrδ)(Σrδ)ᵀ/n).

Rows so far from every component that all densities are 0 are moved towards the components. A density falls as exp(−|x −
μ|²/2σ²): far away only the direction decides which component has the larger share, and from a million spreads on that
share is 1 up to rounding errors.

    x' = c + 10⁶ s v / max |v|        v = (x − c)/s        c, s: the center and the spread of all components

Where components are so narrow that even these rows have density 0, all variances are made larger by one factor: every
squared distance shrinks by it, and the component with the smallest one stays the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels
from bayeslearn.components.product import Expected, register_sweep
from bayeslearn.components.rows import Rows
from bayeslearn.distributions import Counts, StatisticsBundle
from bayeslearn.distributions.normal import LOG_2PI, positive
from bayeslearn.distributions.normal_inverse_wishart import moved, spread
from bayeslearn.distributions.student_t import covariance_factor, inverse_of, log_det

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.components.component import Component
    from bayeslearn.components.product import WeightedProduct
    from bayeslearn.distributions import MultivariateNormal
    from bayeslearn.distributions.distribution import Reach

    Floats = NDArray[np.float64]


#: Rows that one thread takes at a time: the sums are added in this order, however many threads there are.
CHUNK = 1 << 15

#: Rows × components × columns from which on a kernel is worth compiling.
WORTH = 1 << 15

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


#: How many spreads away a row is left.
FAR = 1e6
#: How many of the narrowest spreads away a moved row may be: the square is far within the range of floats.
MAX_DISTANCE = 1e140


def moved_rows(parts: Sequence[Component], parameters: Sequence[Any], far: Rows) -> Rows:
    """The same rows with their numbers `FAR` spreads from the center, in the direction in which they are."""
    reaches = located(parts, parameters)
    if not reaches:
        return far
    centers = {i: reach.centers.mean(axis=0) for i, reach in reaches.items()}
    spreads = {i: spread_of(reach) for i, reach in reaches.items()}
    halves = {i: far.cells[i].reshape(len(far), -1) / 2 - center / 2 for i, center in centers.items()}
    narrowest = min(spreads.values())  # nothing leaves the range of floats: all quotients are at most 1
    largest = _largest(halves.values())
    v = {i: _share(half, largest) * (narrowest / spreads[i]) for i, half in halves.items()}
    top = _largest(v.values())
    cells = list(far.cells)
    for i, block in v.items():
        cells[i] = (centers[i] + FAR * spreads[i] * _share(block, top)).reshape(far.cells[i].shape)
    return Rows(tuple(cells), far.sample_weight)


def widened(parts: Sequence[Component], parameters: Sequence[Any]) -> tuple[Any, ...]:
    """The parameters with all variances multiplied by one factor, so that moved rows have densities above 0."""
    ratios = [spread_of(reach) / reach.narrowest for reach in located(parts, parameters).values()]
    factor = FAR * max(ratios, default=0.0) / MAX_DISTANCE
    if factor <= 1:
        return tuple(parameters)
    return tuple(part.distribution.widened(θ, factor) for part, θ in zip(parts, parameters, strict=True))


def located(parts: Sequence[Component], parameters: Sequence[Any]) -> dict[int, Reach]:
    """Where the components lie, of the parts whose cases have a place."""
    found = (part.distribution.reach(θ) for part, θ in zip(parts, parameters, strict=True))
    return {i: reach for i, reach in enumerate(found) if reach is not None}


def spread_of(reach: Reach) -> float:
    """How far the components reach from their common center."""
    return max(reach.widest, float(np.abs(reach.centers - reach.centers.mean(axis=0)).max(initial=0.0)))


def _largest(blocks: Iterable[Floats]) -> Floats:
    return np.max([np.nanmax(np.abs(block), axis=1, initial=0.0) for block in blocks], axis=0)[:, None]


def _share(block: Floats, top: Floats) -> Floats:
    return block / np.where(top > 0, top, 1.0)
