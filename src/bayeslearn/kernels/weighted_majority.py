"""Predictions by weighted votes of experts, round after round, and the updates of their weights.

votes[t, c] = Σ_i w_i [i predicts c]    then        w_i ← β w_i, wrong_i ← wrong_i + 1   where i was wrong
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Codes = NDArray[np.signedinteger[Any]]

#: Up to so many labels, each is summed in a pass of its own.
FEW = 6

#: Mistakes that a byte holds.
FULL = 127


@kernel
def weigh_advice(
    advice: Codes,
    truth: Codes,
    labels: Codes,
    first: int,
    last: int,
    beta: float,
    weights: NDArray[np.float64],
    wrong: NDArray[np.int64],
    votes: NDArray[np.float64],
) -> None:
    """Some experts over all rounds: their votes are added before the label of each round; −1 is no advice.

    Codes are of one type, so that many are compared at a time; `labels` are all of them, two at least.
    """
    w, few = weights[first:last], len(labels) <= FEW
    errors = np.zeros(last - first, np.int8)  # counted in bytes, many at a time, and added before they are full
    for t in range(len(advice)):
        said = advice[t, first:last]
        if few:
            for c in range(2, len(labels)):
                votes[t, c] += supporting(said, labels[c], w)
        else:
            for i in range(len(said)):
                votes[t, said[i]] += w[i]  # −1 is the last
        zero, one = pay(said, labels[0], labels[1], truth[t], beta, w)
        if few:
            votes[t, 0] += zero
            votes[t, 1] += one
        count_errors(said, truth[t], errors)
        if t % FULL == FULL - 1 or t == len(advice) - 1:
            for i in range(len(errors)):
                wrong[first + i] += errors[i]
                errors[i] = 0


@inner
def supporting(said: Codes, c: int, weights: NDArray[np.float64]) -> float:
    """The weight of the experts that predict c."""
    total = 0.0
    for i in range(len(said)):
        total += weights[i] if said[i] == c else 0.0
    return total


@inner
def pay(said: Codes, c: int, d: int, y: int, beta: float, weights: NDArray[np.float64]) -> tuple[float, float]:
    """The weight of the experts that predict c, and d; then the weights of wrong ones fall."""
    one, other = 0.0, 0.0
    for i in range(len(said)):
        code, w = said[i], weights[i]
        one += w if code == c else 0.0
        other += w if code == d else 0.0
        weights[i] = w * beta if code != y and code >= 0 else w
    return one, other


@inner
def count_errors(said: Codes, y: int, errors: NDArray[np.int8]) -> None:
    """One more for those who were wrong."""
    for i in range(len(said)):
        errors[i] += 1 if said[i] != y and said[i] >= 0 else 0


@kernel
def follow_counts(
    codes: NDArray[np.int32], truth: NDArray[np.int64], counts: NDArray[np.int64], advice: NDArray[np.int32]
) -> None:
    """The most frequent label so far with each state of each column, row by row: the first of ties.

    The first column is one state only; a column with a missing or a new state predicts the same. Then the row is
    counted, unless its label is missing.
    """
    columns, rows = codes.shape
    for j in range(columns):
        for t in range(rows):
            state, most = codes[j, t], 0
            advice[t, j] = advice[t, 0] if j > 0 else 0
            if state >= 0:
                for c in range(counts.shape[2]):
                    if counts[j, state, c] > most:
                        advice[t, j], most = c, counts[j, state, c]
                if truth[t] >= 0:
                    counts[j, state, truth[t]] += 1
