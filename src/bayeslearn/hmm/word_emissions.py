"""Words: symbols of which new data have others; unknown words are known by their shape and ending.

    P(w | s) ∝ n(s, w) + α             words of the training data
    P(c | s) ∝ Σ_s' n(s', c) · q(s | c)      unknown words of class c: a shape and an ending of up to three letters

Rare words stand for unknown ones: those that occur once are also counted by their class. Each class backs off to the
class with an ending shorter by a letter, and in the end to all rare words (Brants 2000; Dirichlet with β pseudo-rows):

    q(s | c) = (n(s, c and longer) + β q(s | shorter)) / (n(c and longer) + β)

Shapes: ``9`` for words with a digit, ``AA`` for capitals only, ``Aa`` for a capital at the beginning. The class of an
unknown word is the longest ending of its shape that rare words have: "Walking" is ``Aa…ing``, ``Aa…ng``, ``Aa…g``,
``Aa…`` or ``…``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.special import xlogy

from bayeslearn.distributions import Counts
from bayeslearn.distributions.categorical import shares
from bayeslearn.errors import ParameterError
from bayeslearn.hmm.categorical_emissions import UNKNOWN, CategoricalEmissions, code_of, logs
from bayeslearn.hmm.emission_statistics import Symbols
from bayeslearn.hmm.observations import distinct, one_column, seen_symbols
from bayeslearn.tables import DiscreteVariable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: The longest ending, the pseudo-rows of a shorter one, and the occurrences up to which a word is rare.
MAX_ENDING, SHORTER, RARE = 3, 2.0, 1
#: What stands between the shape and the ending.
MARK = "…"


def shape_of(word: str) -> str:
    """The shape of a word: digits, capitals, or nothing of both."""
    if any(letter.isdigit() for letter in word):
        return "9"
    if len(word) > 1 and word.isupper():
        return "AA"
    return "Aa" if word[:1].isupper() else ""


def classes_of(word: str) -> list[str]:
    """The classes of a word, the most specific one first."""
    shape, endings = shape_of(word), [word[-n:].lower() for n in range(min(MAX_ENDING, len(word)), 0, -1)]
    return list(dict.fromkeys([*(f"{shape}{MARK}{ending}" for ending in endings), f"{shape}{MARK}", MARK]))


def shorter(name: str) -> str | None:
    """The class that a class backs off to; None for that of all words."""
    shape, _, ending = name.partition(MARK)
    if ending:
        return f"{shape}{MARK}{ending[1:]}"
    return MARK if shape else None


@dataclass(frozen=True, eq=False)
class WordEmissions(CategoricalEmissions):
    """P(word | state) of `n_words` words, the last `n_rare` of them rare, and of the classes of unknown words.

    >>> model = WordEmissions.blank("words", ["cat", "walked", "dog", "cat"], 2, ("word",), None)
    >>> model.variable.states[:3], model.n_words, model.n_rare
    (('cat', 'dog', 'walked'), 3, 2)
    >>> [model.variable.states[code] for code in model.cells(["cat", "talked"])]
    ['cat', '…ked']
    """

    kind: ClassVar[str] = "words"

    n_words: int = 0
    n_rare: int = 0

    @classmethod
    def blank(cls, kind: Any, cells: Any, rows: int, names: tuple[str, ...] | None, symbols: Any) -> Self:  # noqa: ARG003
        """Equal probabilities of all words of the data, and of the classes of rare words."""
        words, place = distinct(one_column(cells).astype(object))
        seen = dict(zip(words, np.bincount(place, minlength=len(words)).tolist(), strict=True))
        known = seen_symbols(cells) if symbols is None else tuple(symbols)
        rare = [word for word in known if 0 < seen.get(word, 0) <= RARE]
        frequent = [word for word in known if not 0 < seen.get(word, 0) <= RARE]
        classes = {name for word in rare for name in classes_of(str(word))} | {MARK}
        variable = DiscreteVariable((names or ("word",))[0], (*frequent, *rare, *sorted(classes - set(known))))
        return cls(variable, np.full((rows, variable.n_states), 1 / variable.n_states), len(known), len(rare))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.n_rare <= self.n_words < self.variable.n_states or MARK not in self.class_names:
            raise ParameterError(f"expected {self.n_words} words and the classes of unknown ones, up to {MARK!r}")

    @property
    def class_names(self) -> tuple[Any, ...]:
        """The classes of unknown words."""
        return self.variable.states[self.n_words :]

    @cached_property
    def class_codes(self) -> dict[str, int]:
        """The code of each class."""
        return {name: self.n_words + i for i, name in enumerate(self.class_names)}

    def cells(self, x: Any) -> NDArray[np.int32]:
        """Codes of words, of unknown ones by their class; −1 where missing."""
        known = {state: code for code, state in enumerate(self.variable.states[: self.n_words])}
        found, place = distinct(one_column(x).astype(object))
        codes = [(word, code_of(word, known)) for word in found]
        return np.array([self.class_code(w) if c == UNKNOWN else c for w, c in codes], np.int32)[place]

    def class_code(self, word: Any) -> int:
        """The code of the most specific class of a word."""
        return next(self.class_codes[name] for name in classes_of(str(word)) if name in self.class_codes)

    def is_known(self, x: Any) -> NDArray[np.bool_]:
        """Return whether each observation is a word of the training data."""
        codes = self.cells(x)
        return (codes >= 0) & (codes < self.n_words)

    # -- rare words

    def gather(self, cells: NDArray[Any], gamma: Floats) -> Counts:
        """The counts of words, and of the classes of rare and unknown ones."""
        return self.with_classes(super().gather(cells, gamma).n)

    def gather_known(self, cells: NDArray[Any], states: NDArray[np.intp], sample_weight: Floats) -> Counts:
        """The same of observations whose states are known."""
        return self.with_classes(super().gather_known(cells, states, sample_weight).n)

    def reading(self, cells: NDArray[Any]) -> Symbols:
        """A table to look up."""
        return Symbols(cells, logs(self.theta), self.with_classes)

    def with_classes(self, counts: Floats) -> Counts:
        """Rare words also counted by their class."""
        found, rare = counts.copy(), slice(self.n_words - self.n_rare, self.n_words)
        np.add.at(found.T, self.rare_classes, counts[:, rare].T)
        return Counts(found)

    @cached_property
    def rare_classes(self) -> NDArray[np.intp]:
        """The class of each rare word."""
        rare = self.variable.states[self.n_words - self.n_rare : self.n_words]
        return np.array([self.class_code(word) for word in rare], np.intp)

    @cached_property
    def levels(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Classes and those that they back off to, places among the classes; longer endings come later."""
        pairs = [(name, shorter(name)) for name in self.class_names]
        found: dict[int, list[tuple[int, int]]] = {}
        for name, to in pairs:
            if to is not None:
                place = self.class_codes[name] - self.n_words, self.class_codes[to] - self.n_words
                found.setdefault(len(name.partition(MARK)[2]) + (MARK != name), []).append(place)
        return [tuple(np.array(level, np.intp).T) for _, level in sorted(found.items())]

    def estimate(self, prior: Any, statistics: Counts) -> Self:
        """Posterior means of words, and the classes of unknown words with their back-off."""
        n, W = statistics.n, self.n_words
        alpha = prior.of(n.shape).alpha
        own = n[:, W:]
        total = own.copy()
        for classes, to in reversed(self.levels):
            np.add.at(total.T, to, total[:, classes].T)
        top = self.class_codes[MARK] - W
        q = np.zeros(own.shape)
        q[:, top] = (total[:, top] + SHORTER / len(n)) / (total[:, top].sum() + SHORTER)
        for classes, to in self.levels:
            q[:, classes] = (total[:, classes] + SHORTER * q[:, to]) / (total[:, classes].sum(axis=0) + SHORTER)
        unknown = (own.sum(axis=0) + 1 / own.shape[1]) * q
        return self.with_parameters(shares(np.concatenate([n[:, :W] + alpha[:, :W], unknown], axis=1), self.theta))

    def log_prior(self, prior: Any) -> float:
        """The log-likelihood of the pseudo-rows of the words."""
        alpha = prior.of(self.theta.shape).alpha[:, : self.n_words]
        return float(xlogy(alpha, self.theta[:, : self.n_words]).sum())

    fields_in_files: ClassVar[dict[str, Any]] = {"variable": dict, "n_words": int, "n_rare": int}

    def describe(self, state: int, max_states: int = 3) -> str:
        """The most probable words."""
        words = DiscreteVariable(self.variable.name, self.variable.states[: self.n_words])
        return self.distribution.describe(self.theta[:, : self.n_words], state, variable=words, max_states=max_states)
