"""A product of many parts at once: columns of states as one sparse table, columns of numbers as one block.

    states    ln p = S ln θ          n = Sᵀ r          S has a one where a row shows a state
    numbers   ln p = Σ_c ln N(x_c)    moments about the present means, cells that are missing left out

The answers are those of the parts one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bayeslearn.families import Categorical, Counts, Moments, Normal
from bayeslearn.families.normal import LOG_2PI
from bayeslearn.mixture.gaussians import moved
from bayeslearn.mixture.parts import logs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.mixture.parts import Part
    from bayeslearn.mixture.rows import Rows

    Floats = NDArray[np.float64]


def log_prob(parts: Sequence[Part], parameters: Sequence[Any], rows: Rows, weights: Floats) -> Floats:
    """ln P(component, row), (n, k)."""
    joint = np.tile(logs(weights), (len(rows), 1))
    states, numbers, others = kinds(parts)
    if states:
        joint += one_hot(parts, rows) @ np.concatenate([logs(parameters[i]).T for i in states])
    if numbers:
        mean, var = stacked(parameters, numbers)
        for j in range(len(mean)):
            square = (block(parts, rows) - mean[j]) ** 2 / var[j]
            joint[:, j] += np.nansum(-(LOG_2PI + np.log(var[j]) + square) / 2, axis=1)
    for i in others:
        joint += parts[i].log_prob(parameters[i], rows.cells[i])
    return joint


def collect(parts: Sequence[Part], parameters: Sequence[Any], rows: Rows, shares: Floats) -> dict[str, Any]:
    """What is expected of every part, by shares (n, k)."""
    states, numbers, others = kinds(parts)
    found: dict[str, Any] = {}
    if states:
        counts = (one_hot(parts, rows).T @ shares).T
        edges = np.cumsum([parts[i].family.size for i in states])[:-1]
        found = {parts[i].name: Counts(n) for i, n in zip(states, np.split(counts, edges, axis=1), strict=True)}
    if numbers:
        mean, _ = stacked(parameters, numbers)
        moments = moments_of(block(parts, rows), mean, shares)
        found |= {parts[i].name: Moments(*(a[:, c] for a in moments.arrays())) for c, i in enumerate(numbers)}
    found |= {parts[i].name: parts[i].collect(parameters[i], rows.cells[i], shares) for i in others}
    return {part.name: found[part.name] for part in parts}


def moments_of(x: Floats, mean: Floats, shares: Floats) -> Any:
    """Moments of columns (n, c) for every component, (k, c), from sums about the present means."""
    seen = ~np.isnan(x)
    n, first, second = (np.empty(mean.shape) for _ in range(3))
    for j, share in enumerate(shares.T):
        δ = np.where(seen, x - mean[j], 0.0)
        n[j], first[j], second[j] = share @ seen, share @ δ, share @ (δ * δ)
    return moved(mean, n, first, second)


### what is made once


def kinds(parts: Sequence[Part]) -> tuple[list[int], list[int], list[int]]:
    """Which parts are states, which numbers by themselves, and the others."""
    states = [i for i, part in enumerate(parts) if isinstance(part.family, Categorical)]
    numbers = [i for i, part in enumerate(parts) if isinstance(part.family, Normal)]
    return states, numbers, [i for i in range(len(parts)) if i not in {*states, *numbers}]


def one_hot(parts: Sequence[Part], rows: Rows) -> Any:
    """S: a row for each row, a column for each state of every column of states."""
    if rows.states is None:
        picked = kinds(parts)[0]
        sizes = [parts[i].family.size for i in picked]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        codes = np.column_stack([rows.cells[i] for i in picked])
        seen = codes >= 0
        places = (codes + starts[:-1])[seen]
        ends = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
        table = sparse.csr_array((np.ones(len(places)), places, ends), shape=(len(rows), int(starts[-1])))
        object.__setattr__(rows, "states", table)
    return rows.states


def block(parts: Sequence[Part], rows: Rows) -> Floats:
    """The columns of numbers side by side."""
    if rows.numbers is None:
        object.__setattr__(rows, "numbers", np.column_stack([rows.cells[i] for i in kinds(parts)[1]]))
    assert rows.numbers is not None
    return rows.numbers


def stacked(parameters: Sequence[Any], numbers: list[int]) -> tuple[Floats, Floats]:
    """Means and variances, (k, c) each."""
    return tuple(np.stack([parameters[i][side] for i in numbers], axis=1) for side in (0, 1))  # type: ignore[return-value]
