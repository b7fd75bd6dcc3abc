"""Dirichlet priors of words that the counts themselves choose, by their evidence.

The documents of a class share one θ_k, drawn from Dirichlet(α) like that of every other class. With θ integrated out
the counts n_kw of K classes have the evidence

    ln P(n|α) = Σ_k { ln Γ(α₀) − ln Γ(α₀ + n_k) + Σ_w ln Γ(α_w + n_kw) − ln Γ(α_w) },      α₀ = Σ_w α_w

which is highest where, for every word,

    Σ_k ψ(α_w + n_kw) − ψ(α_w)  =  Σ_k ψ(α₀ + n_k) − ψ(α₀)

Five ways to use it, which use only the counts of the training documents:

    number        α_w = number: nothing is chosen (1 is Laplace's rule)
    symmetric     α_w = a, one a for all
    background    α_w = m p_w, with p_w the word's share of all words
    words         every α_w for itself
    evidence      every α_w for itself, around the a of `symmetric`: the default

What is chosen has a prior, exponential with mean 1, and is sought in logarithms: ln P(n|α) + ln α − α is
highest. So no documents lead to Laplace's rule; a handful of them, whose classes differ no more or no less than chance
has it, stay near it rather than running to 0 or without end; and from many documents it takes nothing. Only under
`evidence` is the mean another, the a of `symmetric`: ln P(n|α) + Σ_w ln α_w − α_w / a is highest.

With many classes α_w then counts in how many of them a word is at home, rather than how often it is written. With two,
`words` and `background` use the data twice (the classes are what p is made of) and smooth too much; a holds them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports, validation
from bayeslearn.distributions import Categorical, Dirichlet
from bayeslearn.distributions.priors import dirichlet_prior, parse_prior
from bayeslearn.errors import DataError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from scipy import special

    from bayeslearn.naive_bayes.text.sufficient_statistics import TextStatistics
else:
    special = lazy_imports.Deferred("scipy.special")

KINDS = ("evidence", "symmetric", "background", "words")
#: The words that may stand before a colon, or alone.
GRAMMAR = {*KINDS, "none", "laplace", "k2", "jeffreys", "m", "pooled", "bdeu"}
#: Where a is looked for, in logs.
LOW, HIGH = math.log(1e-8), math.log(1e8)
#: Relative change of α₀ in one step at which the climb has arrived.
SETTLED = 1e-5
MOST_STEPS = 500
#: Laplace's rule, where there is nothing to choose from.
PLAIN = 1.0


@dataclass(frozen=True, eq=False)
class Chosen:
    """A prior of words, how it was chosen, and what evidence it has."""

    kind: str
    #: One number per word.
    alpha: NDArray[np.float64]
    log_evidence: float

    @property
    def strength(self) -> float:
        """α₀: the equivalent sample size, in words of each class."""
        return float(self.alpha.sum())

    def to_dict(self) -> dict[str, Any]:
        """Return the prior without its α as plain values."""
        return {
            "kind": self.kind, "equivalent_sample_size": self.strength, "log_marginal_likelihood": self.log_evidence
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"Chosen({self.kind}, α₀={self.strength:.6g}, ln evidence {self.log_evidence:.8g})"


def choose_prior(words: ArrayLike, prior: str | float = "evidence") -> Chosen:
    """The prior of words for counts (classes, words), by one of the ways above.

    >>> choose_prior([[8, 2, 0], [1, 8, 1]], "symmetric")
    Chosen(symmetric, α₀=2.21009, ln evidence -16.540346)
    """
    counts = Sparse.of(words)
    if not isinstance(prior, str):
        value = validation.number("prior", prior, above=0)
        return _chosen("number", counts, np.full(counts.size, value))
    prior = validation.choice("prior", prior, KINDS)
    if not len(counts.n):
        return _chosen(prior, counts, np.full(counts.size, PLAIN))
    if len(counts.totals) == 1:  # one class agrees with any α in its own image, the stronger the better
        prior = "symmetric"
    return _chosen(prior, counts, WAYS[prior](counts))


def symmetric_prior(words: ArrayLike, scale: float = 1.0) -> float:
    """The α of highest evidence, one for all words, of counts times `scale` that need not be whole numbers.

    The logarithms of counts are rounded to 1/1024, so that equal ones are evaluated once.

    >>> round(symmetric_prior([[8, 2, 0], [1, 8, 1]]), 2)
    0.74
    """
    counts = Sparse.of(words)
    if not counts.totals.sum() > 0:
        return PLAIN
    marks = np.round(np.log(scale * counts.n) * 1024).astype(np.int64)
    times = np.bincount(marks - marks.min())
    n, totals = np.exp((np.flatnonzero(times) + marks.min()) / 1024), scale * counts.totals
    return one_for_all(n, times[times > 0], totals, counts.size) / scale


def log_evidence(words: ArrayLike, alpha: ArrayLike) -> float:
    """ln P(n|α) of the formula above."""
    counts = Sparse.of(words)
    a = np.broadcast_to(validation.float_array("alpha", alpha), counts.size)
    if not (a > 0).all():
        raise ParameterError("every α must be above 0 to have evidence", hint="drop words without a count")
    return counts.log_evidence(a)


def pick_prior(statistics: TextStatistics, prior: Any, likelihood: str) -> tuple[Any, Chosen | None]:
    """α of a prior that is given, or of the word for one; and how it was chosen, if by evidence.

    `pooled:m` is m p, with p the word's share of all words. Other words of :mod:`bayeslearn.distributions.priors` count
    a state for each word of the vocabulary, or, under the Bernoulli likelihood, one for its presence and its absence.
    """
    if prior is not None and not isinstance(prior, str):
        return prior, None
    kind = require_prior_word(prior)
    classes, size = statistics.words.shape
    if kind.startswith("pooled") and likelihood != "bernoulli":
        return Dirichlet(
            parse_prior(kind, Categorical(size)).equivalent_sample_size * shares_of(Sparse.of(statistics.words))
        ), None
    if kind not in KINDS and not kind.startswith("pooled"):
        shape = (classes * size, 2) if likelihood == "bernoulli" else (classes, size)
        return float(dirichlet_prior(kind).of(shape).alpha[0, 0]), None
    if likelihood == "bernoulli":
        if kind not in {"evidence", "symmetric"}:
            raise ParameterError(
                f"the Bernoulli likelihood has no prior {kind!r}", hint="take 'evidence', or a number for every word"
            )
        assert statistics.present is not None
        return choose_presence_prior(statistics.present, statistics.documents), None
    found = choose_prior(statistics.words, kind)
    uniform = found.kind == "symmetric"
    return (float(found.alpha[0]) if uniform else Dirichlet(found.alpha)), found


def require_prior_word(prior: str | None) -> str:
    """A word for a prior, which there must be; None is `none`."""
    word = "none" if prior is None else prior.strip().lower()
    if word.partition(":")[0] not in GRAMMAR:
        prior = validation.choice(
            "prior", prior, (*KINDS, "none", "laplace", "k2", "jeffreys", "m:2", "pooled:1", "bdeu:1")
        )
    if word not in KINDS:
        parse_prior(word, Categorical(1))
    return word


def choose_presence_prior(present: ArrayLike, documents: ArrayLike) -> float:
    """The a of highest evidence where a document holds a word or not, with Beta(a, a) for each word of each class.

    Σ_kw  ln B(d_kw + a, d_k − d_kw + a) − ln B(a, a)
    """
    held, total = validation.float_array("present", present), validation.float_array("documents", documents)
    pairs, times = _different(held, np.broadcast_to(total[:, None], held.shape))
    if not len(times) or not total.sum():
        return PLAIN
    yes, no = pairs[0], pairs[1] - pairs[0]
    return _highest(lambda a: times @ (special.betaln(yes + a, np.maximum(no, 0) + a) - special.betaln(a, a)))


def _different(*columns: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The different pairs of entries, and how often each is there."""
    found, times = np.unique(np.stack([column.ravel() for column in columns]), axis=1, return_counts=True)
    return found, times


### the counts, without their zeros


@dataclass(frozen=True, eq=False)
class Sparse:
    """Counts above zero: which word, how often; and how many words each class has."""

    word: NDArray[np.intp]
    n: NDArray[np.float64]
    totals: NDArray[np.float64]
    size: int

    @classmethod
    def of(cls, words: ArrayLike) -> Sparse:
        """The counts of a matrix (classes, words)."""
        counts = validation.float_array("words", words)
        if counts.ndim != 2:
            raise ParameterError(f"expected counts of shape (classes, words), got {counts.shape}")
        validation.not_negative("words", counts, error=DataError)
        row, word = np.nonzero(counts)
        return cls(word, counts[row, word], counts.sum(axis=1), counts.shape[1])

    def log_evidence(self, alpha: NDArray[np.float64]) -> float:
        """ln P(n|α); a word without a count adds only to α₀."""
        if not self.size:
            return 0.0
        a, strength = alpha[self.word], alpha.sum()
        classes = special.gammaln(strength) - special.gammaln(strength + self.totals)
        return float(classes.sum() + (special.gammaln(a + self.n) - special.gammaln(a)).sum())

    def pull(self, strength: float) -> float:
        """Σ_k ψ(α₀ + n_k) − ψ(α₀): what one more unit of α costs the classes."""
        return float((special.digamma(strength + self.totals) - special.digamma(strength)).sum())

    def gain(self, alpha: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ_k ψ(α_w + n_kw) − ψ(α_w): what one more unit of α is worth to each word; 1/α where n = 1."""
        a = alpha[self.word]
        each, once = 1 / a, self.n == 1
        each[~once] = special.digamma((a + self.n)[~once]) - special.digamma(alpha)[self.word[~once]]
        return np.bincount(self.word, each, self.size).astype(np.float64)


def _chosen(kind: str, counts: Sparse, alpha: NDArray[np.float64]) -> Chosen:
    return Chosen(kind, alpha, counts.log_evidence(alpha))


### the ways


def symmetric(counts: Sparse) -> NDArray[np.float64]:
    """One a for all words; equal counts are evaluated once."""
    n, times = np.unique(counts.n, return_counts=True)
    return np.full(counts.size, one_for_all(n, times, counts.totals, counts.size))


def one_for_all(n: NDArray[Any], times: NDArray[Any], totals: NDArray[np.float64], size: int) -> float:
    """The a of highest evidence for different counts n and how often each is there."""

    def evidence(a: float) -> float:
        classes = special.gammaln(a * size) - special.gammaln(a * size + totals)
        return float(classes.sum() + times @ (special.gammaln(a + n) - special.gammaln(a)))

    return _highest(evidence)


def background(counts: Sparse) -> NDArray[np.float64]:
    """m p, where m = a |Vocabulary| and p are :func:`shares_of`."""
    p = shares_of(counts)
    return counts.size * _highest(lambda a: counts.log_evidence(a * counts.size * p)) * p


def shares_of(counts: Sparse) -> NDArray[np.float64]:
    """The share of each word of all words; one without a count counts as half a word."""
    seen = np.maximum(np.bincount(counts.word, counts.n, counts.size), 0.5)
    return seen / seen.sum()


def per_word(counts: Sparse) -> NDArray[np.float64]:
    """Every α_w for itself."""
    return _climb(counts, symmetric(counts), 1.0)


def around_symmetric(counts: Sparse) -> NDArray[np.float64]:
    """Every α_w for itself, around a."""
    start = symmetric(counts)
    return _climb(counts, start, float(1 / start[0]))


WAYS: dict[str, Any] = {
    "symmetric": symmetric,
    "background": background,
    "words": per_word,
    "evidence": around_symmetric,
}


def _highest(evidence: Any) -> float:
    """The a of highest evidence + ln a − a."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 - heavy

    found = minimize_scalar(
        lambda t: math.exp(t) - t - evidence(math.exp(t)), bounds=(LOW, HIGH), method="bounded", options={"xatol": 1e-6}
    )
    return math.exp(found.x)


def _climb(counts: Sparse, alpha: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """Solve gain_w(α_w) + 1/α_w = pull(α₀) + rate for all words at once.

    The logarithm of the left falls almost in a line with ln α, of a slope between −1 (a word written once: 2/α) and 0.
    So each step goes along the line through the last two points; a slope of −1 would be the fixed point.
    """
    log_alpha, slope = np.log(alpha), np.full(counts.size, -1.0)
    before: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    for _ in range(MOST_STEPS):
        alpha = np.exp(log_alpha)
        strength = float(alpha.sum())
        height = np.log(counts.gain(alpha) + 1 / alpha)
        if before is not None:
            run = log_alpha - before[0]
            moved = np.abs(run) > 1e-9
            slope[moved] = np.clip((height - before[1])[moved] / run[moved], -1.0, -0.2)
        step = (math.log(counts.pull(strength) + rate) - height) / slope
        before = log_alpha, height
        log_alpha = log_alpha + np.clip(step, -3, 3)
        if alpha @ np.abs(step) <= SETTLED * strength:
            break
    return np.exp(log_alpha)
