"""Texts to tokens: the rule, its slow and obvious form, and the table of characters that the fast form reads.

    kind        a token is a longest run of           that has at least
    "words"     letters, digits and underscores        `shortest` characters
    "letters"   letters                                `shortest` characters
    "all"       letters, digits and underscores        `shortest` characters
                or of anything else but white space    one character: "!", "...", "<-"
    "spaces"    anything but white space               `shortest` characters

What is a letter, a digit or white space is what Python's ``re`` takes for one. An n-gram is n tokens that follow each
other, with a space between. "words" in lower case from two characters on is scikit-learn's ``CountVectorizer``.
"""

from __future__ import annotations

import functools
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Characters that make words, and those that make other tokens, for each kind.
KINDS: dict[str, tuple[str, str | None]] = {
    "words": (r"\w", None),
    "letters": (r"[^\W\d_]", None),
    "all": (r"\w", r"[^\w\s]"),
    "spaces": (r"\S", None),
}

#: The longest n-gram.
MOST = 16


@dataclass(frozen=True)
class Tokenizer:
    """How a text becomes tokens; see the module for the kinds.

    >>> Tokenizer().tokens("A rose, is a Rose!")
    ['rose', 'is', 'rose']
    >>> Tokenizer(kind="all", shortest=1, ngrams=(1, 2)).tokens("a rose!")
    ['a', 'rose', 'a rose', '!', 'rose !']
    """

    lower: bool = True
    kind: str = "words"
    shortest: int = 2
    ngrams: tuple[int, int] = (1, 1)

    def __post_init__(self) -> None:
        if not isinstance(self.lower, bool | np.bool_):
            raise ParameterError(f"`lower` must be true or false, got {self.lower!r}")
        object.__setattr__(self, "kind", validation.choice("kind", self.kind, KINDS))
        validation.integer("shortest", self.shortest, min_value=1, max_value=1 << 20)
        object.__setattr__(self, "ngrams", span(self.ngrams))

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, n-grams where their last token stands, short ones first."""
        low, high = self.ngrams
        single = self._pattern.findall(text.lower() if self.lower else text)
        return [
            " ".join(single[end - n : end]) for end in range(1, len(single) + 1) for n in range(low, min(high, end) + 1)
        ]

    @property
    def _pattern(self) -> re.Pattern[str]:
        word, other = KINDS[self.kind]
        return re.compile(f"{word}{{{self.shortest},}}" + (f"|{other}+" if other else ""))

    def classes(self, *, ascii_only: bool) -> NDArray[np.uint8]:
        """The class of every byte and character, as :mod:`bayeslearn.kernels.document_counts` has it."""
        return character_classes(self.kind, 128 if ascii_only else sys.maxunicode + 1)

    # -- for files

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"lower": bool(self.lower), "kind": self.kind, "shortest": self.shortest, "ngrams": list(self.ngrams)}


def span(ngrams: Any) -> tuple[int, int]:
    """The shortest and the longest n-gram; one number is both."""
    pair = (ngrams, ngrams) if isinstance(ngrams, int) else tuple(ngrams)
    if len(pair) != 2:
        raise ParameterError(f"`ngrams` must be the shortest and the longest, such as (1, 2), got {ngrams!r}")
    low = validation.integer("ngrams", pair[0], min_value=1, max_value=MOST)
    return low, validation.integer("ngrams", pair[1], min_value=low, max_value=MOST)


@functools.cache
def character_classes(kind: str, size: int) -> NDArray[np.uint8]:
    """Of 256 bytes and then of characters: 0 parts tokens, 1 makes words, 2 others; 255 is a part of a character."""
    characters = np.arange(size, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    classes = np.zeros(256 + size, np.uint8)
    for number, members in enumerate(KINDS[kind], start=1):
        for run in re.finditer(f"{members}+", characters) if members else ():
            classes[256 + run.start() : 256 + run.end()] = number
    classes[:128], classes[128:256] = classes[256 : 256 + 128], 255
    return classes
