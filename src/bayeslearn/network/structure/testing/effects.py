"""Whether a column has an effect on another that is the same in all slices that other columns make of the cases.

    full         the law of x given y differs from slice to slice as it likes          ln P = Σ N_zxy ln N_zxy / N_zy
    effect       ln m_zxy = a_zx + b_zy + c_xy                  y shifts x in every slice by as much, on a scale of odds
    none         m_zxy = N_zx N_zy / N_z                        y says nothing of x in any slice

    statistic    2 Σ N_zxy ln m_zxy(effect) / m_zxy(none)       by a χ² law with (r_x − 1) (r_y − 1) degrees of freedom

A test of the full association has that many degrees of freedom in every slice: what a weak parent says is lost among
them. The fit of `effect` has the sums N_zx, N_zy and N_xy of the cases, and is found by scaling to each in turn.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import chdtrc, xlogy

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Turns of scaling at most, and the share of the cases that sums may then still be off by.
TURNS, OFF = 500, 1e-7


class Effect(NamedTuple):
    """The answer of the test; a small p-value speaks for an effect."""

    statistic: float
    degrees: int
    p_value: float


NO_EFFECT = Effect(0.0, 0, 1.0)


def effect(n: NDArray[np.floating | np.integer], level: float = 1.0) -> Effect:
    """Test N(slice, x, y); where the full association would not reach the level, the effect is not looked at."""
    n = telling(np.asarray(n, np.float64))
    if not len(n):
        return NO_EFFECT
    degrees = math.prod(int(np.count_nonzero(n.sum(axis=axes))) - 1 for axes in ((0, 2), (0, 1)))
    none = independent(n)
    if level < 1 and chdtrc(degrees, twice(n, n, none)) > level:
        return NO_EFFECT
    statistic = max(twice(n, scaled(n, none), none), 0.0)
    return Effect(statistic, degrees, float(chdtrc(degrees, statistic)))


def telling(n: NDArray[np.float64]) -> NDArray[np.float64]:
    """The slices in which both columns vary: others say nothing of an effect."""
    of_x, of_y = (np.count_nonzero(n.sum(axis=axis), axis=1) for axis in (2, 1))
    return n[(of_x > 1) & (of_y > 1)]


def independent(n: NDArray[np.float64]) -> NDArray[np.float64]:
    """m(none)."""
    return n.sum(axis=2, keepdims=True) * n.sum(axis=1, keepdims=True) / n.sum(axis=(1, 2), keepdims=True)


def scaled(n: NDArray[np.float64], start: NDArray[np.float64]) -> NDArray[np.float64]:
    """m(effect)."""
    fitted, wanted = start.copy(), [n.sum(axis=axis, keepdims=True) for axis in (0, 2, 1)]
    for _ in range(TURNS):
        off = np.abs(fitted.sum(axis=0, keepdims=True) - wanted[0]).max()
        if off <= OFF * n.sum():
            break
        for axis, sums in zip((0, 2, 1), wanted, strict=True):
            now = fitted.sum(axis=axis, keepdims=True)
            fitted *= np.divide(sums, now, out=np.zeros_like(now), where=now > 0)
    return fitted


def twice(n: NDArray[np.float64], fitted: NDArray[np.float64], none: NDArray[np.float64]) -> float:
    """2 Σ n ln fitted / none."""
    return 2 * float((xlogy(n, fitted) - xlogy(n, none)).sum())
