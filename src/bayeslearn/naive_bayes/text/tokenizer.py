"""Texts to tokens: the rule, its reference implementation, and the table of characters of the kernel.

    analyzer    a token is a longest run of           that has at least
    "words"     letters, digits and underscores        `min_token_length` characters
    "letters"   letters                                `min_token_length` characters
    "all"       letters, digits and underscores        `min_token_length` characters
                or of anything else but white space    one character: "!", "...", "<-"
    "spaces"    anything but white space               `min_token_length` characters

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
MAX_NGRAM = 16


@dataclass(frozen=True)
class Tokenizer:
    """The rule that splits texts into tokens; see the module for the analyzers.

    >>> Tokenizer().tokens("A rose, is a Rose!")
    ['rose', 'is', 'rose']
    >>> Tokenizer(analyzer="all", min_token_length=1, ngram_range=(1, 2)).tokens("a rose!")
    ['a', 'rose', 'a rose', '!', 'rose !']
    """

    case_sensitive: bool = False
    analyzer: str = "words"
    min_token_length: int = 2
    ngram_range: tuple[int, int] = (1, 1)

    def __post_init__(self) -> None:
        if not isinstance(self.case_sensitive, bool | np.bool_):
            raise ParameterError(f"`case_sensitive` must be true or false, got {self.case_sensitive!r}")
        object.__setattr__(self, "analyzer", validation.choice("analyzer", self.analyzer, KINDS))
        validation.integer("min_token_length", self.min_token_length, min_value=1, max_value=1 << 20)
        object.__setattr__(self, "ngram_range", span(self.ngram_range))

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, n-grams where their last token stands, short ones first."""
        low, high = self.ngram_range
        single = self._pattern.findall(text if self.case_sensitive else text.lower())
        return [
            " ".join(single[end - n : end]) for end in range(1, len(single) + 1) for n in range(low, min(high, end) + 1)
        ]

    @property
    def _pattern(self) -> re.Pattern[str]:
        word, other = KINDS[self.analyzer]
        return re.compile(f"{word}{{{self.min_token_length},}}" + (f"|{other}+" if other else ""))

    def classes(self, *, ascii_only: bool) -> NDArray[np.uint8]:
        """The class of every byte and character, as :mod:`bayeslearn.kernels.document_counts` has it."""
        return character_classes(self.analyzer, 128 if ascii_only else sys.maxunicode + 1)

    @property
    def lower(self) -> bool:
        """Whether upper and lower case are the same."""
        return not self.case_sensitive

    # -- for files

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "case_sensitive": bool(self.case_sensitive), "analyzer": self.analyzer,
            "min_token_length": self.min_token_length, "ngram_range": list(self.ngram_range),
        }  # fmt: skip


def span(ngram_range: Any) -> tuple[int, int]:
    """The shortest and the longest n-gram; one number is both."""
    pair = (ngram_range, ngram_range) if isinstance(ngram_range, int) else tuple(ngram_range)
    if len(pair) != 2:
        raise ParameterError(f"`ngram_range` must be the shortest and the longest, such as (1, 2), got {ngram_range!r}")
    low = validation.integer("ngram_range", pair[0], min_value=1, max_value=MAX_NGRAM)
    return low, validation.integer("ngram_range", pair[1], min_value=low, max_value=MAX_NGRAM)


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
