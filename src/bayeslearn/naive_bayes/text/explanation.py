"""Why a document has a class: the log odds of each word.

The log odds of two classes are a sum over the words:

    ln P(k|d) / P(j|d)  =  ln P(k) / P(j)  +  Σ_w n_w ( ln P(w|k) − ln P(w|j) )

Other weightings have x_w in place of n_w, and pooled and calibrated models their weights in place of ln P(w|k).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports, validation
from bayeslearn.errors import ParameterError, listed
from bayeslearn.fit_info import plain
from bayeslearn.naive_bayes.text.vocabulary import ColumnVocabulary, HashedVocabulary
from bayeslearn.naive_bayes.text.word_weights import document_entries
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.text.model import TextModel
    from bayeslearn.tables.frames import Backend

plots: Any = lazy_imports.Deferred("bayeslearn.plots")


@dataclass(frozen=True)
class Word:
    """A word, its count, and its total contribution to the log odds."""

    word: str
    count: float
    log_odds: float


@dataclass(frozen=True, repr=False)
class TextExplanation(Reported):
    """Log odds of a class against another one, given a document.

    Attributes
    ----------
    label, against
        Both classes.
    probability
        The probability of the class, given the document.
    log_odds
        The log odds of the class: the sum of base and words.
    base
        The log odds without the words: those of the classes and, under the Bernoulli likelihood, of absent words.
    words
        The words of the document in the vocabulary, those in favor of the class first.
    n_unknown
        The number of tokens outside the vocabulary, which contribute nothing.
    """

    label: Any
    against: Any
    probability: float
    log_odds: float
    base: float
    words: tuple[Word, ...]
    n_unknown: int

    def top_positive(self, max_results: int = 10) -> tuple[Word, ...]:
        """Return the words that most support the class."""
        return tuple(word for word in self.words[:max_results] if word.log_odds > 0)

    def top_negative(self, max_results: int = 10) -> tuple[Word, ...]:
        """Return the words that most support the other class."""
        return tuple(word for word in self.words[::-1][:max_results] if word.log_odds < 0)

    def report(self) -> Report:
        """Return the log odds of each word."""
        rows = [("(base)", None, self.base), *((w.word, w.count, w.log_odds) for w in self.words)]
        pairs = {"Probability": self.probability, "Log odds": self.log_odds, "Unknown tokens": self.n_unknown}
        title = f"Class {self.label} versus class {self.against}"
        return Report(title, Pairs(pairs), Grid(["Word", "Count", "Log odds"], rows, "Words"))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        return plain({field.name: getattr(self, field.name) for field in fields(self)})

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each word."""
        return frame_of(columns_of(self.words), backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Plot the log odds of the words; see :func:`bayeslearn.plots.plot_words`."""
        return plots.plot_words(self, ax=ax)


def columns_of(words: Iterable[Word]) -> dict[str, list[Any]]:
    """Words as columns."""
    words = list(words)
    return {name: [getattr(word, name) for word in words] for name in ("word", "count", "log_odds")}


def explain_text(model: TextModel, text: str, label: Any = None, against: Any = None) -> TextExplanation:
    """Return the log odds of a class (the most probable one) against another one (the next one).

    >>> from bayeslearn.naive_bayes.text import fit_text
    >>> model = fit_text(["cheap watch", "cheap, buy", "meeting at noon"], ["spam", "spam", "ham"])
    >>> [(w.word, round(w.log_odds, 3)) for w in explain_text(model, "cheap cheap meeting").words]
    [('cheap', 1.258), ('meeting', -0.6)]
    """
    joint = model.log_joint([text])[0]
    order = np.argsort(-joint, kind="stable").tolist()
    k = order[0] if label is None else place(model, label)
    j = next((c for c in order if c != k), k) if against is None else place(model, against)
    if k == j:
        raise ParameterError(f"{model.classes[k]!r} cannot be compared with itself", hint="name another class")
    found, unknown = known_tokens(model, text)
    positions = np.array([model.vocabulary.position(word) for word in found], dtype=np.intp)
    logs = model.log_p_words
    times = document_entries(model.likelihood, model.weighting, np.array(list(found.values()), dtype=np.int64))
    parts = times * (logs[k, positions] - logs[j, positions]) if found else np.zeros(0)
    odds = float(joint[k] - joint[j])
    return TextExplanation(
        model.classes[k],
        model.classes[j],
        float(model.predict_proba([text])[0, k]),
        odds,
        odds - float(parts.sum()),
        in_order(Word(word, n, float(part)) for (word, n), part in zip(found.items(), parts, strict=True)),
        unknown,
    )


@dataclass(frozen=True, repr=False)
class ClassWords(Reported):
    """The words that distinguish a class.

    Attributes
    ----------
    label
        The class.
    top_positive, top_negative
        The words that most support the class, and those that most support others.
    """

    label: Any
    top_positive: tuple[Word, ...]
    top_negative: tuple[Word, ...]

    def report(self) -> Report:
        """Return the words of the class."""
        rows = [(w.word, w.count, w.log_odds) for w in (*self.top_positive, *self.top_negative)]
        return Report(f"Class {self.label}", Grid(["Word", "Count", "Log odds"], rows))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        return plain({field.name: getattr(self, field.name) for field in fields(self)})

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each word."""
        return frame_of(columns_of((*self.top_positive, *self.top_negative)), backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Plot the log odds of the words; see :func:`bayeslearn.plots.plot_words`."""
        return plots.plot_words(self, ax=ax)


def explain_class(model: TextModel, label: Any, max_results: int = 10) -> ClassWords:
    """Return the words that distinguish a class, weighted by their frequency.

    The log odds of a word are ln P(w|k) − Σ_j P(j) ln P(w|j), j the other classes; words in favor of the class are
    weighted by their frequency in it, others by their frequency in the other classes.
    """
    validation.integer("max_results", max_results, min_value=1)
    if isinstance(model.vocabulary, HashedVocabulary):
        raise ParameterError("a model of hashed words has no list of words", hint="fit without n_hash_features")
    k = place(model, label)
    others = np.arange(len(model.classes)) != k
    if not others.any():
        raise ParameterError(f"{label!r} is the only class; there is no other to compare with")
    with np.errstate(invalid="ignore"):  # words without a count and without a prior
        log_odds = model.log_p_words[k] - _mean(model.log_p_words[others], np.exp(model.log_p_classes[others]))
        log_odds = np.where(np.isnan(log_odds), 0.0, log_odds)
        own, other = (_shares(model.statistics.words[rows]) for rows in (k, others))
        in_favor, against = (np.where(share > 0, share * log_odds, 0.0) for share in (own, other))
    best = np.argsort(-in_favor, kind="stable")[:max_results]
    worst = np.argsort(against, kind="stable")[:max_results]
    names, seen = model.vocabulary.words, model.statistics.words[k]
    rows = [[Word(names[w], float(seen[w]), float(log_odds[w])) for w in chosen] for chosen in (best, worst)]
    return ClassWords(
        model.classes[k],
        tuple(word for word in rows[0] if word.log_odds > 0 and word.count > 0),
        tuple(word for word in rows[1] if word.log_odds < 0),
    )


### parts


def place(model: TextModel, label: Any) -> int:
    """The number of a class."""
    found = [k for k, known in enumerate(model.classes) if known == label or str(known) == str(label)]
    if not found:
        raise ParameterError(f"there is no class {label!r}; the model has {listed(model.classes)}")
    return found[0]


def known_tokens(model: TextModel, text: str) -> tuple[dict[str, int], int]:
    """The count of each word of the vocabulary in a text, and the number of other tokens."""
    if isinstance(model.vocabulary, ColumnVocabulary):
        raise ParameterError("this model was fitted to a matrix and cannot read texts", hint="fit it to texts")
    tokens = Counter(model.tokenizer.tokens(text))
    found = {word: n for word, n in tokens.items() if word in model.vocabulary}
    return found, tokens.total() - sum(found.values())


def in_order(words: Iterable[Word]) -> tuple[Word, ...]:
    """By decreasing log odds; equal ones by name."""
    return tuple(sorted(words, key=lambda word: (-word.log_odds, word.word)))


def _mean(logs: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.average(logs, axis=0, weights=p if p.sum() > 0 else None)


def _shares(words: NDArray[np.float64]) -> NDArray[np.float64]:
    counts = np.atleast_2d(words).sum(axis=0)
    return counts / max(counts.sum(), 1.0)
