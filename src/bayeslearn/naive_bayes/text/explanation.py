"""Why: the words that speak for a class and against it.

The log odds of two classes are a sum, so that every word has its part in it:

    ln P(k|d) / P(j|d)  =  ln P(k) / P(j)  +  Σ_w n_w ( ln P(w|k) − ln P(w|j) )
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, listed
from bayeslearn.naive_bayes.text.vocabulary import ColumnVocabulary, HashedVocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.text.model import TextModel


@dataclass(frozen=True)
class Word:
    """A word, how often it is there, and what all of these together add to the log odds."""

    word: str
    count: float
    log_odds: float


@dataclass(frozen=True)
class TextExplanation:
    """A class, the class it was weighed against, and what each word had to say."""

    label: Any
    against: Any
    probability: float
    log_odds: float
    #: What is there before any word: the classes' own odds, and what absent words say under the Bernoulli likelihood.
    before: float
    #: The words of the document that the model knows, from the strongest for the class to the strongest against it.
    words: tuple[Word, ...]
    #: Tokens that the model does not know: nothing is concluded from them.
    unknown: int

    def speaking_for(self, most: int = 10) -> tuple[Word, ...]:
        """The words that speak most for the class."""
        return tuple(word for word in self.words[:most] if word.log_odds > 0)

    def speaking_against(self, most: int = 10) -> tuple[Word, ...]:
        """The words that speak most against it."""
        return tuple(word for word in self.words[::-1][:most] if word.log_odds < 0)


def explain_text(model: TextModel, text: str, label: Any = None, against: Any = None) -> TextExplanation:
    """Why a text is of a class (the most probable one) and not of another (the next one).

    >>> from bayeslearn.naive_bayes.text import fit_text
    >>> model = fit_text(["cheap watch", "cheap, buy", "meeting at noon"], ["spam", "spam", "ham"])
    >>> [(w.word, round(w.log_odds, 3)) for w in explain_text(model, "cheap cheap meeting").words]
    [('cheap', 1.987), ('meeting', -0.799)]
    """
    joint = model.log_joint([text])[0]
    order = np.argsort(-joint, kind="stable").tolist()
    k = order[0] if label is None else place(model, label)
    j = next((c for c in order if c != k), k) if against is None else place(model, against)
    if k == j:
        raise ParameterError(f"{model.classes[k]!r} cannot be weighed against itself", hint="name another class")
    found, unknown = known_tokens(model, text)
    positions = np.array([model.vocabulary.position(word) for word in found], dtype=np.intp)
    logs = model.log_p_words
    times = np.minimum(1, list(found.values())) if model.likelihood == "bernoulli" else np.array(list(found.values()))
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


@dataclass(frozen=True)
class ClassWords:
    """What one class is known by."""

    label: Any
    speaking_for: tuple[Word, ...]
    speaking_against: tuple[Word, ...]


def explain_class(model: TextModel, label: Any, most: int = 10) -> ClassWords:
    """The words that speak most for a class and against it, weighed by how often they are written.

    What a word says is ln P(w|k) − Σ_j P(j) ln P(w|j), j the other classes. Those for the class say most in a document
    of it, where they stand θ_kw times; those against it in a document of another class.
    """
    validation.integer("most", most, min_value=1)
    if isinstance(model.vocabulary, HashedVocabulary):
        raise ParameterError("a model of hashed words does not know its words", hint="learn without --hash to see them")
    k = place(model, label)
    others = np.arange(len(model.classes)) != k
    if not others.any():
        raise ParameterError(f"{label!r} is the only class: there is nothing to tell it from")
    said = model.log_p_words[k] - _mean(model.log_p_words[others], np.exp(model.log_p_classes[others]))
    own, other = (_shares(model.statistics.words[rows]) for rows in (k, others))
    best = np.argsort(-own * said, kind="stable")[:most]
    worst = np.argsort(other * said, kind="stable")[:most]
    names, seen = model.vocabulary.words, model.statistics.words[k]
    rows = [[Word(names[w], float(seen[w]), float(said[w])) for w in chosen] for chosen in (best, worst)]
    return ClassWords(
        model.classes[k],
        tuple(word for word in rows[0] if word.log_odds > 0 and word.count > 0),
        tuple(word for word in rows[1] if word.log_odds < 0),
    )


### parts


def place(model: TextModel, label: Any) -> int:
    """Which class this is."""
    found = [k for k, known in enumerate(model.classes) if known == label or str(known) == str(label)]
    if not found:
        raise ParameterError(f"there is no class {label!r}; the model has {listed(model.classes)}")
    return found[0]


def known_tokens(model: TextModel, text: str) -> tuple[dict[str, int], int]:
    """How often each word that the model knows is in a text, and how many other tokens are."""
    if isinstance(model.vocabulary, ColumnVocabulary):
        raise ParameterError("this model was learned from a matrix and cannot read texts", hint="learn it from texts")
    tokens = Counter(model.tokenizer.tokens(text))
    found = {word: n for word, n in tokens.items() if word in model.vocabulary}
    return found, tokens.total() - sum(found.values())


def in_order(words: Iterable[Word]) -> tuple[Word, ...]:
    """From the strongest for to the strongest against; equal ones by name."""
    return tuple(sorted(words, key=lambda word: (-word.log_odds, word.word)))


def _mean(logs: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.average(logs, axis=0, weights=p if p.sum() > 0 else None)


def _shares(words: NDArray[np.float64]) -> NDArray[np.float64]:
    counts = np.atleast_2d(words).sum(axis=0)
    return counts / max(counts.sum(), 1.0)
