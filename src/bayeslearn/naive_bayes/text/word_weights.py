"""Weights of words, read off the counts: what one more occurrence of a word adds to the score of a class.

    multinomial    ln P(w|k) = ln (n_kw + α_w) − ln Σ_w (n_kw + α_w)
    complement     −ln P(w|not k), the same from the words of all other classes
    bernoulli      ln P(w in a document|k) − ln P(w not in a document|k), and absent words count too

The weighting determines what a document counts for, in the sums n_kw and in its own score:

    counts         n_dw
    normalized     x_dw = ln(1 + n_dw) / ‖ln(1 + n_d)‖      long documents and repeated words count less
    tf_idf         x_dw, and the weight of a word times ln(Σ_v n_v / n_w): rare words count more

The inverse frequency is read off the sums, so that documents add up without a second pass; Rennie et al. (2003) weigh
by it before they normalize. With `weight_norm` the weights of a class are divided by Σ_w |weight|, as theirs are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn.naive_bayes.text.document_counts import unit_length
from bayeslearn.naive_bayes.text.probabilities import log, take_logs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Weighting = Literal["counts", "normalized", "tf_idf"]
WEIGHTINGS = ("counts", "normalized", "tf_idf")


def word_logs(likelihood: str, words: Floats, totals: Floats, alpha: Any, strength: Any) -> Floats:
    """ln P(w|k) of some words (V, K), or −ln P(w|not k); of all words there are `totals` and Σ α = `strength`."""
    is_complement = likelihood == "complement"
    logs = words.sum(axis=1, keepdims=True) - words if is_complement else words.copy()
    totals = totals.sum() - totals if is_complement else totals
    logs += alpha[:, None] if np.ndim(alpha) else alpha
    totals = totals + strength
    take_logs(logs, log(np.where(totals > 0, totals, 1.0)))
    return np.negative(logs, out=logs) if is_complement else logs


def presence_logs(present: Floats, documents: Floats, alpha: Any) -> tuple[Floats, Floats]:
    """Log odds of the presence of each word (V, K), and what a document without words has (K,)."""
    alpha = alpha[:, None] if np.ndim(alpha) else alpha
    total = log(documents + 2 * alpha)
    there, absent = log(present + alpha) - total, log(documents - present + alpha) - total
    return np.ascontiguousarray(there - absent), absent.sum(axis=0)


def inverse_frequency(words: Floats) -> Floats:
    """ln(Σ_v n_v / n_w) of counts (V, K); 0 for words without a count.

    >>> inverse_frequency(np.array([[1.0, 1], [3, 3], [0, 0]])).round(3)
    array([1.386, 0.288, 0.   ])
    """
    n = words.sum(axis=1)
    return np.where(n > 0, -np.log(np.where(n > 0, n, 1.0) / max(n.sum(), np.finfo(float).tiny)), 0.0)


def entries(likelihood: str, weighting: str, indptr: Any, counts: NDArray[Any]) -> NDArray[Any]:
    """What the counts of documents are worth: counts, presence, or counts of documents of length 1."""
    if likelihood == "bernoulli":
        return np.ones_like(counts)
    return counts if weighting == "counts" else unit_length(indptr, counts)


def document_entries(likelihood: str, weighting: str, counts: NDArray[Any]) -> NDArray[Any]:
    """The same for the counts of one document."""
    return entries(likelihood, weighting, np.array([0, len(counts)]), counts)
