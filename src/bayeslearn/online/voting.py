"""Votes by weight, many rounds at a time.

    w_i = 2^(log₂ p_i + wrong_i log₂ β − the largest)        votes[t, c] = Σ_i w_i [i says c in round t]

Weights are taken from the counts of mistakes again before they could underflow, so a million rounds are as good as one.
Experts are taken in blocks, always the same, whose votes add: both cores work and the sums do not depend on them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeslearn import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.signedinteger[Any]]
    Floats = NDArray[np.float64]

#: Votes this near are tied, and the first label wins: sums of many weights are no better.
TIE = 1e-11

#: Experts of a block, and cells from which on it is worth to use threads.
BLOCK, MANY = 256, 1 << 22

#: Bits that the heaviest expert may lose, and rounds there may be, before weights are taken anew.
ROOM, ROUNDS = 900, 1024


class Votes(NamedTuple):
    """The weight for each label in each round, and that of experts who said nothing; relative within a round."""

    labels: Floats
    silent: Floats

    @classmethod
    def of(cls, counted: Floats, n_labels: int) -> Votes:
        """From columns of the labels, and perhaps one of silence."""
        return cls(counted[:, :n_labels], counted[:, max(n_labels, 2) :].sum(axis=1))

    @property
    def shares(self) -> Floats:
        """What share of the weight that spoke is for each label; zeros where nobody spoke."""
        total = self.labels.sum(axis=1, keepdims=True)
        return np.divide(self.labels, total, out=np.zeros_like(self.labels), where=total > 0)

    @property
    def spoken(self) -> Floats:
        """The share of the weight that spoke."""
        spoke = self.labels.sum(axis=1)
        whole = spoke + self.silent
        return np.divide(spoke, whole, out=np.zeros(len(whole)), where=whole > 0)

    def guesses(self) -> NDArray[np.intp]:
        """The label of most weight, the first of those that tie; −1 where nobody speaks."""
        most = self.labels.max(axis=1, initial=0.0)
        first = np.argmax(self.labels >= most[:, None] * (1 - TIE), axis=1) if self.labels.shape[1] else 0
        return np.where(most > 0, first, -1)

    def draws(self, u: Floats) -> NDArray[np.intp]:
        """A label drawn by its weight for each of the numbers between 0 and 1; −1 where nobody speaks."""
        reached = np.cumsum(self.shares, axis=1)
        drawn = (reached <= u[:, None]).sum(axis=1)
        last = reached.shape[1] - 1 - np.argmax(self.labels[:, ::-1] > 0, axis=1) if reached.shape[1] else 0
        return np.where(self.labels.sum(axis=1) > 0, np.minimum(drawn, last), -1)


def relative_weights(log2_prior: Floats, wrong: NDArray[np.int64], beta: float) -> Floats:
    """The weights, the largest of them 1; powers of two are exact."""
    paid = wrong * math.log2(beta) if beta else np.where(wrong > 0, -np.inf, 0.0)
    bits = log2_prior + paid
    most = bits.max()
    if not math.isfinite(most):
        return np.zeros(len(bits))
    bits = np.maximum(bits - most, -1100.0)
    whole = np.floor(bits)
    return np.ldexp(np.exp2(bits - whole), whole.astype(np.int32))


def tally(
    advice: Codes, truth: Codes, n_labels: int, log2_prior: Floats, wrong: NDArray[np.int64], beta: float
) -> Votes:
    """The votes of each round before it is told; mistakes are added to `wrong` as they are made."""
    labels, votes = counters(advice, n_labels)
    step = min(max(1, int(ROOM / -math.log2(beta))), ROUNDS) if beta else ROUNDS
    for start in range(0, len(advice), step):
        part = slice(start, start + step)
        weights = relative_weights(log2_prior, wrong, beta)
        add_votes(advice[part], truth[part], labels, beta, weights, wrong, votes[part])
    return Votes.of(votes, n_labels)


def poll(advice: Codes, n_labels: int, weights: Floats) -> Votes:
    """The votes on some questions; nothing is told, and the weights stay."""
    labels, votes = counters(advice, n_labels)
    nothing = np.zeros(len(advice), advice.dtype)
    add_votes(advice, nothing, labels, 1.0, weights.copy(), np.zeros(len(weights), np.int64), votes)
    return Votes.of(votes, n_labels)


def counters(advice: Codes, n_labels: int) -> tuple[Codes, Floats]:
    """The codes of the labels, two at least, and −1 last if an expert is silent; and a zero for each in each round."""
    silent = advice.size > 0 and int(advice.min()) < 0
    labels = np.append(np.arange(max(n_labels, 2)), [-1] * silent).astype(advice.dtype)
    return labels, np.zeros((len(advice), len(labels)))


def add_votes(
    advice: Codes, truth: Codes, labels: Codes, beta: float, weights: Floats, wrong: NDArray[np.int64], votes: Floats
) -> None:
    """The votes of all blocks of experts."""
    n = advice.shape[1]

    def block(first: int) -> Floats:
        into = np.zeros_like(votes)
        kernels.weigh_advice(advice, truth, labels, first, min(first + BLOCK, n), beta, weights, wrong, into)
        return into

    for part in kernels.parallel(block, range(0, n, BLOCK), worth=advice.size > MANY):
        votes += part
