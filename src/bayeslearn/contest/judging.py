"""How wrong a learner is, how sure that is, and whether two differ by more than chance.

    error of classes     the share of rows that are wrong           loss of a row: 0 or 1
    error of numbers     the root of the mean squared error         loss of a row: (said − so)²

Losses are those of rows that the learner had not seen, and rows count as often as their weight says. The standard error
is that of a mean of losses, for numbers carried through the root. Two learners are compared on the same rows:

    classes    rows where only one is wrong fall on either side like a fair coin     exact sign test
    numbers    the differences of losses have mean 0                                 paired t test

Rows are taken for independent, though learners of different folds share examples, so a p value is a guide. Several are
compared with the best, so p values are Holm's: the smallest times how many there are, the next times one fewer, …
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.lazy_imports import Deferred

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

special = Deferred("scipy.special")

#: What a class is held to be worth at least, so that one mistake that was said to be impossible does not weigh all.
LEAST_PROBABILITY = 1e-12


def mean_with_error(losses: Floats, weights: Floats) -> tuple[float, float]:
    """The mean, and its standard error."""
    total = weights.sum()
    mean = weights @ losses / total
    variance = weights @ (losses - mean) ** 2 / max(total - 1, 1.0)
    return float(mean), float(np.sqrt(variance / total))


def error_of(losses: Floats, weights: Floats, *, classes: bool) -> tuple[float, float]:
    """The error and its standard error."""
    mean, spread = mean_with_error(losses, weights)
    if classes:
        return mean, spread
    root = mean**0.5
    return root, spread / (2 * root) if root else 0.0


def log_loss(proba: Floats, said: NDArray[np.int64], weights: Floats) -> float:
    """−mean ln P(what was so)."""
    p = np.clip(proba[np.arange(len(said)), said], LEAST_PROBABILITY, 1.0)
    return max(float(-(weights @ np.log(p)) / weights.sum()), 0.0)


### pairs


def chance(a: Floats, b: Floats, weights: Floats, *, classes: bool) -> float:
    """How often two learners that are equally good would differ at least so much, on the same rows."""
    return sign_test(a, b, weights) if classes else paired_t(a, b, weights)


def sign_test(a: Floats, b: Floats, weights: Floats) -> float:
    """Two-sided and exact; where weights are no whole numbers, by the beta function that joins the counts.

    >>> sign_test(np.array([1.0, 1, 1, 1, 0]), np.array([0.0, 0, 0, 0, 0]), np.ones(5))  # 2 / 2⁴
    0.125
    """
    less, more = sorted((weights[a > b].sum(), weights[a < b].sum()))
    return min(1.0, 2 * float(special.betainc(more, less + 1, 0.5))) if more else 1.0


def paired_t(a: Floats, b: Floats, weights: Floats) -> float:
    """Two-sided; 1 where the two never differ."""
    mean, spread = mean_with_error(a - b, weights)
    if not spread:
        return float(mean == 0)
    return 2 * float(special.stdtr(max(weights.sum() - 1, 1.0), -abs(mean) / spread))


def holm(p: Sequence[float]) -> list[float]:
    """P values of several comparisons, held against all of them.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    found, least = [0.0] * len(p), 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        least = max(least, min(1.0, (len(p) - rank) * p[i]))
        found[i] = least
    return found
