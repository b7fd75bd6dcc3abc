"""Whether one learner is better than another: errors with their standard errors, paired differences, p values.

score    the accuracy of predicted classes, R² of predicted numbers
paired   losses of two learners on the same rows: the mean difference, its standard error and its p value
holm     p values of several comparisons
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.evaluation import accuracy, mean_with_error, require_known
from bayeslearn.lazy_imports import Deferred

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

special = Deferred("scipy.special")

__all__ = ["PairedDifference", "error_with_spread", "holm", "paired", "paired_t_test", "score", "sign_test"]


def __dir__() -> list[str]:
    return __all__


def score(predicted: Any, truth: Any, sample_weight: Any = None, *, classes: bool) -> float:
    """The accuracy of codes of classes, or R² of numbers, over the rows whose truth is known.

    A code below 0 and NaN are unknown. R² of numbers that do not vary is 1 if all are predicted, else 0.

    >>> import numpy as np
    >>> score(np.array([1.0, 2.0, 5.0]), np.array([1.0, 2.0, np.nan]), classes=False)
    1.0
    """
    known = truth >= 0 if classes else ~np.isnan(truth)
    w = np.where(known, validation.weights(sample_weight, len(truth)), 0.0)
    require_known(float(w.sum()))
    if classes:
        return accuracy(float(w[predicted == truth].sum()), float(w.sum()))
    y = np.where(known, truth, 0.0)
    off, apart = w @ (y - predicted) ** 2, w @ (y - w @ y / w.sum()) ** 2
    return float(1 - off / apart) if apart else float(off == 0)


def error_with_spread(losses: Floats, sample_weight: Floats, *, classes: bool) -> tuple[float, float]:
    """The error and its standard error: the mean of 0/1 losses of classes, the root of the mean square of numbers."""
    mean, spread = mean_with_error(losses, sample_weight)
    if classes:
        return mean, spread
    root = mean**0.5
    return root, spread / (2 * root) if root else 0.0


@dataclass(frozen=True)
class PairedDifference:
    """Losses of one learner minus those of another on the same rows: their mean, and how often chance makes as much."""

    mean: float
    standard_error: float
    #: Of the sign test for classes, of the paired t test for numbers.
    p_value: float


def paired(a: Floats, b: Floats, sample_weight: Floats | None = None, *, classes: bool) -> PairedDifference:
    """Compare the losses of two learners row by row.

    Rows are treated as independent, though learners of different folds share training rows, so a p value is a guide.

    Parameters
    ----------
    a, b
        The loss of each learner in each row.
    sample_weight
        The weight of each row; 1 if not given.
    classes
        Whether losses are 0 or 1, of classes (sign test), or those of numbers (paired t test).

    Examples
    --------
    >>> import numpy as np
    >>> paired(np.array([1.0, 1, 1, 0]), np.array([0.0, 0, 0, 0]), classes=True)
    PairedDifference(mean=0.75, standard_error=0.25, p_value=0.25)
    """
    w = validation.weights(sample_weight, len(a))
    test = sign_test if classes else paired_t_test
    return PairedDifference(*mean_with_error(a - b, w), test(a, b, w))


def sign_test(a: Floats, b: Floats, sample_weight: Floats) -> float:
    """Two-sided and exact; where weights are no whole numbers, by the beta function that joins the counts.

    >>> import numpy as np
    >>> sign_test(np.array([1.0, 1, 1, 1, 0]), np.array([0.0, 0, 0, 0, 0]), np.ones(5))  # 2 / 2⁴
    0.125
    """
    less, more = sorted((sample_weight[a > b].sum(), sample_weight[a < b].sum()))
    return min(1.0, 2 * float(special.betainc(more, less + 1, 0.5))) if more else 1.0


def paired_t_test(a: Floats, b: Floats, sample_weight: Floats) -> float:
    """Two-sided; 1 where the two never differ."""
    mean, spread = mean_with_error(a - b, sample_weight)
    if not spread:
        return float(mean == 0)
    return 2 * float(special.stdtr(max(sample_weight.sum() - 1, 1.0), -abs(mean) / spread))


def holm(p: Sequence[float]) -> list[float]:
    """P values of several comparisons, held against all of them: the smallest times how many, the next times one fewer.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    found, least = [0.0] * len(p), 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        least = max(least, min(1.0, (len(p) - rank) * p[i]))
        found[i] = least
    return found
