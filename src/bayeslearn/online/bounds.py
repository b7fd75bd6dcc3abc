"""How many mistakes a vote of experts makes at most, if one of n of them makes k.

    Weighted-Majority    (k ln(1/β) + ln n) / ln(2/(1+β))      β = 1/2: (k + log₂ n) / log₂(4/3), some 2.4 (k + log₂ n)
    Halving              log₂ n                                β = 0 and k = 0
    randomised           (k ln(1/β) + ln n) / (1 − β)          on average

Each mistake takes at least (1−β)/2 of the weight that spoke, and the weight of one expert stays. Where only a share s
of the weight spoke, a mistake takes s(1−β)/2 of the whole; with a prior p, ln n is ln(1/p) of that expert.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def mistake_bound(
    k: float, n: float, *, beta: float = 0.5, randomised: bool = False, starts: int = 1, spoken: float = 1.0
) -> float:
    """The most mistakes of the vote over `n` experts, one of which makes `k`; the most expected ones if `randomised`.

    >>> round(mistake_bound(10, 16), 2), round(mistake_bound(0, 16, beta=0), 2)
    (33.73, 4.0)
    >>> round(mistake_bound(10, 16, beta=0.8, randomised=True), 2)
    25.02
    """
    k, n = validation.number("k", k, least=0), validation.number("n", n, least=1)
    validation.number("spoken", spoken, least=0, most=1)
    return least_bound(
        [k], [-math.log(n)], beta=beta, randomised=randomised, starts=validation.integer("starts", starts, least=1),
        spoken=spoken,
    )  # fmt: skip


def least_bound(
    wrong: ArrayLike,
    log_prior: ArrayLike,
    *,
    beta: float,
    randomised: bool = False,
    starts: int = 1,
    spoken: float = 1.0,
) -> float:
    """The least of the bounds that the experts give, each by its mistakes and its prior."""
    beta = validation.number("beta", beta, least=0, below=1)
    if randomised and beta == 0:
        raise ParameterError("the randomised vote has no bound at β = 0 unless an expert is never wrong")
    wrong, log_prior = np.asarray(wrong, np.float64), np.asarray(log_prior, np.float64)
    cost = np.where(wrong > 0, wrong * -math.log(beta) if beta else np.inf, 0.0) - starts * log_prior
    taken = spoken * (1 - beta) if randomised else -math.log1p(-spoken * (1 - beta) / 2)
    return float(cost.min()) / taken if taken > 0 else math.inf  # nobody spoke: no expert answers for it
