"""Words, quoted words and punctuation of the bracketed formats, one at a time, each with its offset.

One compiled expression finds the next token; it reads every character once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bayeslearn.network.formats.network_builder import unquote
from bayeslearn.source_text import NUMBER, floats, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayeslearn.source_text import Source

#: Blanks and comments, then a quoted word, a mark of punctuation, or a word. A slash belongs to a word unless it opens
#: a comment. What is opened and not closed matches too, so that the parser can say so. Nothing here can fail to match,
#: so nothing is tried twice.
SLASHES = r"\s+|//[^\n]*|/\*[\s\S]*?\*/"
QUOTED = r'"(?:[^"\\]|\\[\s\S])*"?'
TOKEN = {
    "bif": rf"(?:{SLASHES})*({QUOTED}|/\*|[{{}}()\[\],;|]|(?:[^\s{{}}()\[\],;|\"/]|/(?![/*]))+)?",
    "net": rf"(?:{SLASHES}|%[^\n]*)*({QUOTED}|/\*|[{{}}();|=]|(?:[^\s{{}}();|=\"/%]|/(?![/*]))+)?",
}
PUNCTUATION = {"bif": frozenset("{}()[],;|"), "net": frozenset("{}();|=")}


class Tokens:
    """A cursor: ``word`` is the token under it ('' at the end), ``at`` its offset."""

    def __init__(self, source: Source, dialect: str) -> None:
        self.source = source
        self._token, self._punctuation = re.compile(TOKEN[dialect]).match, PUNCTUATION[dialect]
        self.word, self.at, self.end = "", 0, 0
        self.move(0)

    def move(self, offset: int) -> None:
        """Put the cursor on the first token from an offset on."""
        found = self._token(self.source.text, offset)
        assert found is not None
        self.word, self.end = found.group(1) or "", found.end()
        self.at = self.end - len(self.word)
        first = self.word[:1]
        if first == '"' and not closed(self.word):
            raise self.source.error("a quotation mark is opened and never closed", self.at)
        if self.word == "/*":
            raise self.source.error("a comment is opened and never closed", self.at)

    def next(self) -> str:
        """The token under the cursor, which moves on."""
        word = self.word
        self.move(self.end)
        return word

    # -- what must come next

    def expected(self, what: str) -> Exception:
        """An error with what was expected and what was found."""
        return self.source.error(f"expected {what}, found {quoted(self.word)}", self.at)

    def take(self, mark: str) -> None:
        """A mark of punctuation or a keyword."""
        if self.word != mark:
            raise self.expected(repr(mark))
        self.move(self.end)

    def skip(self, mark: str) -> bool:
        """Whether this mark came; if so, the cursor is behind it."""
        found = self.word == mark
        if found:
            self.move(self.end)
        return found

    def is_name(self) -> bool:
        """Whether a name is under the cursor: a word or a quoted word."""
        return self.word != "" and self.word not in self._punctuation

    def name(self, what: str) -> str:
        """A name, without its quotation marks."""
        if not self.is_name():
            raise self.expected(what)
        word = self.next()
        return unquote(word) if word[0] == '"' else word

    def numbers(self) -> list[float]:
        """Numbers up to the next token that is none; commas between them may be there."""
        words: list[str] = []
        while NUMBER.fullmatch(self.word):
            words.append(self.next())
            self.skip(",")
        values = floats(words)
        assert isinstance(values, list)
        return values

    def past(self, mark: str) -> None:
        """Skip everything up to and including a mark."""
        while self.word != mark:
            if not self.word:
                raise self.expected(repr(mark))
            self.move(self.end)
        self.move(self.end)

    def names_until(self, closing: str, count: int, what: str) -> list[str]:
        """Exactly `count` names: split by commas, or by blanks where there are no commas.

        Unquoted names with blanks can be separated by the commas, or where one name is expected.
        """
        start, words, joined = self.at, list[str](), list[str | None]()
        group: list[tuple[str, bool]] = []
        while self.word != closing:
            if self.skip(","):
                joined.append(joined_name(group))
                group.clear()
                continue
            plain = self.word[:1] != '"'
            words.append(self.name(f"{what} or {closing!r}"))
            group.append((words[-1], plain))
        self.move(self.end)
        joined.append(joined_name(group))
        names = [name for name in joined if name is not None]
        if len(joined) == len(names) == count:
            return names
        if len(words) == count and len(joined) in {1, count + 1}:  # a comma may stand behind the last one
            return words
        raise self.source.error(f"expected {count} {what}s, found {len(words)}", start)


def joined_name(group: Sequence[tuple[str, bool]]) -> str | None:
    """The words between two commas as one name; None if there are none, or several of which some are quoted."""
    if not group or (len(group) > 1 and not all(plain for _, plain in group)):
        return None
    return " ".join(word for word, _ in group)


def closed(word: str) -> bool:
    """Whether a quoted word ends in its quotation mark."""
    if len(word) < 2 or word[-1] != '"':
        return False
    return (len(word) - 1 - len(word[:-1].rstrip("\\"))) % 2 == 0
