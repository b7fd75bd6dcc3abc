"""Local fits by compiled code: rows around the queries are searched, then weighed and fitted on every core."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels
from bayeslearn.distributions.moments import in_range
from bayeslearn.distributions.sufficient_statistics import frozen
from bayeslearn.neighbors.search_index import build_index
from bayeslearn.regression.local.results import LocalFit
from bayeslearn.regression.local.settings import KERNELS, kernel_weights
from bayeslearn.tables.table import read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.neighbors.search_index import Index
    from bayeslearn.regression.local.settings import Settings

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

#: The largest number of neighbors in memory, and the pieces of work of a thread.
BLOCK, PIECE = 1 << 22, 1 << 14

#: Less work than this is not worth a second thread.
WORTH = 1 << 16

#: Weights below this, or above its inverse, are rescaled; the largest ridge in such units.
SMALL, MOST_RIDGE = 1e-100, 1e100


@dataclass(frozen=True, eq=False)
class Space:
    """Points (n, d) with their outputs (n, m) and weights."""

    points: Floats
    outputs: Floats
    sample_weight: Floats

    def __post_init__(self) -> None:
        for name in ("points", "outputs", "sample_weight"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.points)

    @property
    def dim(self) -> int:
        """How many features there are."""
        return self.points.shape[1]

    @cached_property
    def index(self) -> Index:
        """The points, so that the nearest are found fast."""
        return build_index(self.points)

    def nearest(self, queries: Floats, k: int, *, in_order: bool = True) -> Integers:
        """The rows of the k points nearest to each query, (q, k), the nearest first if `in_order`."""
        k = min(k, len(self))
        if k == len(self) and not in_order:
            return np.broadcast_to(np.arange(k), (len(queries), k))
        return self.index.nearest(queries, k)[1]


def fits(space: Space, settings: Settings, queries: Floats, *, slopes: bool = False) -> LocalFit:
    """The fit around each query; queries near each other are computed together, as they share rows."""
    k = settings.neighbors
    if k is None:
        return fitted(space, settings, queries, np.empty((len(queries), 0), np.int64), slopes=slopes)
    turn, size = in_space(queries), max(BLOCK // k, 1)
    blocks = (queries[turn[start : start + size]] for start in range(0, len(queries), size))
    found = [fitted(space, settings, block, space.nearest(block, k, in_order=False), slopes=slopes) for block in blocks]
    return joined(found, np.argsort(turn))


def in_space(points: Floats) -> Integers:
    """Rows in an order in which those that follow each other are near each other."""
    order, boxes = np.arange(len(points)), np.empty((max(len(points) // 4, 8), 3), np.int64)
    if points.shape[1]:
        kernels.grow_tree(read_only(points), order, boxes)
    return order


def fitted(
    space: Space, settings: Settings, queries: Floats, rows: Integers, skip: Integers | None = None, *,
    slopes: bool = False,
) -> LocalFit:  # fmt: skip
    """The fit around each query to its rows (none: all), but the one to skip."""
    n, m = len(queries), space.outputs.shape[1]
    skip = np.full(n, -1) if skip is None else skip
    mean, rss, about, flags = np.empty((n, m)), np.empty((n, m)), np.empty((n, 3)), np.empty(n, np.int8)
    slope = np.empty((n if slopes else 0, m, space.dim))
    kind, queries, rows = KERNELS[settings.weighting], np.array(queries), np.ascontiguousarray(rows)
    work = (rows.shape[1] or len(space)) * max(space.dim, 1)
    step = max(PIECE // work, 1)

    unit, weights = in_units(space.sample_weight)

    def piece(start: int) -> None:
        kernels.fit_local(
            space.points, space.outputs, weights, queries, rows, skip, kind, settings.degree, settings.reach,
            min(settings.ridge / unit, MOST_RIDGE), start, min(start + step, n), mean, rss, about, flags, slope,
        )  # fmt: skip

    kernels.parallel(piece, range(0, n, step), worth=n * work > WORTH)
    if unit != 1:
        with in_range():
            rss, about[:, 0] = rss * unit, about[:, 0] * unit
    return LocalFit(mean, rss, about[:, 0], about[:, 1], about[:, 2], flags, slope if slopes else None)


def in_units(sample_weight: Floats) -> tuple[float, Floats]:
    """Weights as multiples of a power of two: of 1 in general, unless their squares leave the range of floats.

    Then the least of them count as `SMALL` of the largest: no row vanishes.
    """
    low, top = float(sample_weight.min(initial=1.0)), float(sample_weight.max(initial=1.0))
    if SMALL < low and top < 1 / SMALL:
        return 1.0, sample_weight
    unit = 2.0 ** np.floor(np.log2(sample_weight.max()))
    return float(unit), read_only(np.maximum(sample_weight / unit, SMALL))


def joined(found: list[LocalFit], order: Integers) -> LocalFit:
    """Blocks of fits as one, in this order."""
    names = [name for name, value in vars(found[0]).items() if isinstance(value, np.ndarray)]
    arrays: dict[str, Any] = {name: np.concatenate([getattr(fit, name) for fit in found])[order] for name in names}
    return replace(found[0], **arrays)


def squeezed(fit: LocalFit) -> LocalFit:
    """Fits of the only target."""
    slopes = None if fit.slopes is None else fit.slopes[:, 0]
    return replace(fit, mean=fit.mean[:, 0], rss=fit.rss[:, 0], slopes=slopes)


def neighborhood(space: Space, settings: Settings, query: Floats) -> tuple[Integers, Floats]:
    """The rows of positive weight around one query, and their weights, the largest first."""
    rows = np.arange(len(space)) if settings.neighbors is None else space.nearest(query, settings.neighbors)[0]
    distances = np.sqrt(((space.points[rows] - query) ** 2).sum(axis=1))
    w = kernel_weights(settings.weighting, distances, settings.reach or None) * space.sample_weight[rows]
    order = np.lexsort((rows, -w))
    order = order[w[order] > 0]
    return rows[order], w[order]
