"""Weighted-Majority the slow way: one expert, one round at a time, in fractions. And streams to try it on."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from bayeslearn.online.voting import TIE

BETAS = [0.5, 0.25, 0.75, 0.9375, 2.0**-20]


def slow_majority(advice, truth, n_labels, beta=0.5):
    """Guesses, expected mistakes and mistakes of each expert; −1 is no advice, ties go to the first label."""
    beta = Fraction(beta)
    n = advice.shape[1]
    weights, wrong, guesses, expected = [Fraction(1)] * n, [0] * n, [], Fraction(0)
    for said, y in zip(advice.tolist(), truth.tolist(), strict=True):
        votes = [sum(w for w, a in zip(weights, said, strict=True) if a == c) for c in range(n_labels)]
        total = sum(votes)
        tied = [c for c in range(n_labels) if votes[c] >= max(votes) * (1 - Fraction(TIE))]
        guesses.append(tied[0] if total else -1)
        expected += 1 - Fraction(votes[y]) / total if total else 1
        for i, a in enumerate(said):
            if a >= 0 and a != y:
                weights[i] *= beta
                wrong[i] += 1
    return guesses, float(expected), wrong


@st.composite
def streams(draw, *, labels=3, silent=False):
    """Advice and truth: random, or against the vote."""
    n_labels = draw(st.integers(2, labels))
    n, rounds = draw(st.integers(1, 6)), draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    advice = rng.integers(-1 if silent else 0, n_labels, (rounds, n)).astype(np.int8)
    return advice, rng.integers(0, n_labels, rounds), n_labels
