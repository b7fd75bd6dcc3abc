"""Degree, number of neighbors and bandwidth by leave-one-out.

    ŷ_(i) = the fit at x_i to the rows but i = y_i − (y_i − ŷ_i)/(1 − h_ii)          h_ii = W_i v_i, the hat's diagonal

Around x_i row i has the features 0, so it is left out by its weight: one fit, exact where h_ii = 1. Neighbors are
searched once, for the largest number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import EvidenceError
from bayeslearn.regression.local import fit
from bayeslearn.regression.local.settings import Settings, parameters

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from bayeslearn.regression.local.results import LocalFit

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

#: The largest number of neighbors that is tried, and the number of bandwidths.
MOST_NEIGHBORS, BANDWIDTHS = 256, 12


@dataclass(frozen=True)
class Tried:
    """Settings, and their leave-one-out error."""

    settings: Settings
    #: The root mean squared error; of several targets, each in units of its standard deviation.
    error: float
    #: The number of rows where a ridge was needed, and where no row was within reach.
    ridged: int
    out_of_reach: int


def choose(
    space: fit.Space, init: Settings, free: Collection[str], *, max_rows: int | None, random_state: Any
) -> list[Tried]:
    """Every candidate for the free settings, the best first; of equal ones, the simpler first."""
    if len(space) == 1:
        return [Tried(replace(init, n_neighbors=1 if init.n_neighbors else None), float("nan"), 0, 0)]
    rows = some_rows(space, max_rows, random_state)
    candidates = list(grid(space, init, free, rows))
    around = others(space, rows, max(c.neighbors or 0 for c in candidates))
    tried = [judged(space, c, rows, around) for c in candidates]
    return sorted(tried, key=lambda t: t.error)


def judged(space: fit.Space, settings: Settings, rows: Integers, around: Integers) -> Tried:
    """The error of settings on rows left out."""
    found = leave_one_out_fit(space, settings, rows, around)
    y, w = space.outputs, space.sample_weight[rows]
    unit = y.std(axis=0) if y.shape[1] > 1 else np.ones(1)
    square = ((found.mean - y[rows]) / np.where(unit > 0, unit, 1.0)) ** 2
    error = float(np.sqrt(np.average(square.mean(axis=1), weights=w / w.max())))
    return Tried(settings, error, int(found.ridged.sum()), int(found.out_of_reach.sum()))


def leave_one_out_fit(space: fit.Space, settings: Settings, rows: Integers, around: Integers | None = None) -> LocalFit:
    """The fits at these rows to the others; `around` holds the nearest others, if they are known."""
    if len(space) < 2:
        raise EvidenceError("leave-one-out needs 2 rows, got 1", hint="add rows")
    k, queries = settings.neighbors, space.points[rows]
    if k is None:
        return fit.fitted(space, settings, queries, np.empty((len(rows), 0), np.int64), rows)
    near = others(space, rows, k) if around is None else around
    return fit.fitted(space, settings, queries, near[:, :k])


def others(space: fit.Space, rows: Integers, k: int) -> Integers:
    """The k nearest of the other rows to each of these."""
    if not k:
        return np.empty((len(rows), 0), np.int64)
    k = min(k, len(space) - 1)
    near = space.nearest(space.points[rows], k + 1)
    keep = near != rows[:, None]
    keep[keep.all(axis=1), -1] = False  # hidden behind more than k rows that are the same
    return near[keep].reshape(len(rows), k)


def some_rows(space: fit.Space, max_rows: int | None, random_state: Any) -> Integers:
    """At most this number of rows, at random."""
    if max_rows is None or len(space) <= validation.integer("loo_rows", max_rows, min_value=1):
        return np.arange(len(space))
    return np.sort(validation.generator(random_state).choice(len(space), max_rows, replace=False))


### candidates


def grid(space: fit.Space, init: Settings, free: Collection[str], rows: Integers) -> list[Settings]:
    """Settings to try: degrees 0 to 2, and neighbors and bandwidths from the fewest rows that determine a fit."""
    degrees = [0, 1, 2] if "degree" in free else [init.degree]
    found = []
    for degree in degrees:
        least = parameters(degree, space.dim) + 1
        ks: Sequence[int | None] = neighbors(least, len(space) - 1) if "n_neighbors" in free else [init.n_neighbors]
        hs: Sequence[float | None] = bandwidths(space, least, rows) if "bandwidth" in free else [init.bandwidth]
        found += [replace(init, degree=degree, n_neighbors=k, bandwidth=h) for k, h in product(ks, hs)]
    return found


def neighbors(least: int, most: int) -> Sequence[int]:
    """Numbers of neighbors, each √2 times the one before."""
    least, most = min(least + 1, most), min(most, max(MOST_NEIGHBORS, 8 * least))
    steps = int(2 * np.log2(most / least)) + 1
    return sorted({*(round(least * 2 ** (i / 2)) for i in range(steps)), most})


def bandwidths(space: fit.Space, least: int, rows: Integers) -> Sequence[float]:
    """From the median distance within which the other rows determine a fit, to that across all rows."""
    widest = float(np.linalg.norm(np.ptp(space.points, axis=0)))
    if widest == 0:
        return [1.0]
    some = rows[:: max(len(rows) // 200, 1)]
    farthest = space.points[others(space, some, least)[:, -1]]
    usual = float(np.median(np.linalg.norm(farthest - space.points[some], axis=1)))
    return list(np.geomspace(max(usual, widest / 1000), widest, BANDWIDTHS).tolist())
