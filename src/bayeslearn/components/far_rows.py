"""Rows so far from every component that all densities are 0, moved towards the components.

A density falls as exp(−|x − μ|²/2σ²): far away only the direction decides which component has the larger share, and
from a million spreads on that share is 1 for all that can be told.

    x' = c + 10⁶ s v / max |v|        v = (x − c)/s        c, s: the center and the spread of all components

Where components are so narrow that even these rows have density 0, all variances are made larger by one factor: every
squared distance shrinks by it, and the component with the smallest one stays the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.components.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.components.component import Component
    from bayeslearn.distributions.distribution import Reach

    Floats = NDArray[np.float64]

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
