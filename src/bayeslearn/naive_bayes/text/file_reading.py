"""The parts of a model file, each checked before it is used; see :mod:`~bayeslearn.naive_bayes.text.files`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import BayeslearnError, CapacityError, FormatError
from bayeslearn.families import Dirichlet, DirichletRule
from bayeslearn.naive_bayes.text.lexicon import Lexicon, spared
from bayeslearn.naive_bayes.text.model import TextModel
from bayeslearn.naive_bayes.text.statistics import TextStatistics
from bayeslearn.naive_bayes.text.tokens import Tokeniser
from bayeslearn.naive_bayes.text.vocabulary import Columns, Hashed, Vocabulary

if TYPE_CHECKING:
    import gzip
    import io
    from collections.abc import Sized

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.text.vocabulary import AnyVocabulary

LABEL = "bayeslearn text"
VERSION = 1

#: The longest head, the most bytes of all parts and the largest table that are written and read.
MOST_HEAD, MOST_BYTES, MOST_CELLS = 1 << 24, 1 << 31, 1 << 28

#: Types that a part may have.
TYPES = {name: np.dtype(name) for name in ("<f8", "<i8", "<i4", "<u4", "<u2", "|u1")}

Parts = dict[str, "NDArray[Any]"]


class Reader:
    """The parts of a file, each checked before it is used."""

    def __init__(self, packed: gzip.GzipFile | io.BytesIO, path: str) -> None:
        self.path = path
        self.head = self._head(packed.readline(MOST_HEAD))
        self.parts = self._parts(packed)

    def wrong(self, message: str) -> FormatError:
        """An error in this file."""
        return FormatError(f"{self.path!r} is no text model: {message}", path=self.path)

    def _head(self, line: bytes) -> dict[str, Any]:
        try:
            head = json.loads(line)
        except (ValueError, RecursionError):
            raise self.wrong("it does not begin with a line of JSON") from None
        if not isinstance(head, dict) or head.get("format") != LABEL:
            raise self.wrong(f'expected {{"format": {LABEL!r}, ...}}')
        if head.get("version") != VERSION:
            raise self.wrong(f"it has version {head.get('version')!r:.20}, and this program reads {VERSION}")
        return head

    def _parts(self, packed: gzip.GzipFile | io.BytesIO) -> Parts:
        parts: Parts = {}
        left = MOST_BYTES
        for part in self.entry("parts", list):
            name, kind, length = (
                part.get(key) if isinstance(part, dict) else None for key in ("name", "type", "length")
            )
            if (
                not isinstance(name, str)
                or kind not in TYPES
                or not isinstance(length, int)
                or length < 0
                or name in parts
            ):
                raise self.wrong(f"a part is described as {part!r:.80}")
            size = length * TYPES[kind].itemsize
            left -= size
            if left < 0:
                raise CapacityError(f"{self.path!r} has parts of more than {MOST_BYTES:,} bytes")
            parts[name] = np.frombuffer(self._exactly(packed, size, name), TYPES[kind])
        if packed.read(1):
            raise self.wrong("there is more in it than it announces")
        return parts

    def _exactly(self, packed: Any, size: int, name: str) -> bytes:
        """So many bytes, a block at a time: a short file must not make us reserve what its head promises."""
        blocks, left = [], size
        while left:
            block = packed.read(min(left, 1 << 24))
            if not block:
                raise self.wrong(f"it ends within the part {name!r}")
            blocks.append(block)
            left -= len(block)
        return b"".join(blocks)

    def entry(self, key: str, kind: type | tuple[type, ...], within: dict[str, Any] | None = None) -> Any:
        """A value of the head."""
        value = (self.head if within is None else within).get(key)
        if not isinstance(value, kind):
            raise self.wrong(f"{key!r} is {value!r:.60}")
        return value

    def numbers(self, name: str, length: int | None = None) -> NDArray[Any]:
        """A part: finite numbers, none negative."""
        part = self.parts.get(name)
        if part is None or (length is not None and len(part) != length):
            raise self.wrong(f"the part {name!r} is missing, or not of {length} entries")
        if not (np.isfinite(part).all() and part.min(initial=0) >= 0):
            raise self.wrong(f"the part {name!r} has entries that are negative or not finite")
        return part

    def model(self) -> TextModel:
        """The whole file."""
        try:
            return TextModel(
                self._statistics(),
                self._tokeniser(),
                self.entry("likelihood", str),
                self._prior("prior"),
                self._prior("class_prior"),
            )
        except (FormatError, CapacityError):
            raise
        except BayeslearnError as error:
            raise self.wrong(error.message) from None

    def _tokeniser(self) -> Tokeniser:
        given = self.entry("tokeniser", dict)
        if set(given) != {"lower", "kind", "shortest", "ngrams"} or not isinstance(given["ngrams"], list):
            raise self.wrong(f"'tokeniser' is {given!r:.80}")
        return Tokeniser(**given)

    def _statistics(self) -> TextStatistics:
        classes = self.entry("classes", list)
        if not all(isinstance(name, str | int | float | bool) for name in classes):
            raise self.wrong("a class is neither a text nor a number nor a truth value")
        vocabulary = self._vocabulary()
        require_room(classes, vocabulary, self.path)
        names = ["words", "present"] if self.entry("present", bool) else ["words"]
        tables = [self._table(name, len(vocabulary), len(classes)) for name in names]
        return TextStatistics(tuple(classes), vocabulary, self.numbers("documents", len(classes)), *tables)

    def _vocabulary(self) -> AnyVocabulary:
        given = self.entry("vocabulary", dict)
        kind, size = self.entry("kind", str, given), self.entry("size", int, given)
        if kind == "hashed":
            return Hashed(size)
        if kind == "columns":
            return Columns(size)
        if kind != "words":
            raise self.wrong(f"'vocabulary' is {given!r:.60}")
        lengths = self.numbers("lengths", size).astype(np.int64)
        letters = self.numbers("letters")
        if lengths.sum() != len(letters) or (lengths == 0).any() or letters.dtype != np.uint8:
            raise self.wrong("its words do not fit their lengths")
        lexicon, _ = Lexicon.empty().joined(spared(letters), np.cumsum(lengths))
        if len(lexicon.ends) < size:
            raise self.wrong("a word stands in its vocabulary twice")
        cut = letters[np.cumsum(lengths[:-1])] & 0xC0 == 0x80 if size else np.zeros(0)  # within a character
        try:
            letters.tobytes().decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            cut = np.ones(1)
        if cut.any():
            raise self.wrong("its words are not UTF-8")
        return Vocabulary(lexicon)

    def _table(self, name: str, n_words: int, n_classes: int) -> NDArray[np.float64]:
        sizes = self.numbers(f"{name}.sizes", n_words).astype(np.int64)
        values = self.numbers(f"{name}.values")
        columns = self.numbers(f"{name}.classes", len(values))
        if sizes.sum() != len(values) or columns.max(initial=0) >= max(n_classes, 1) or columns.dtype.kind == "f":
            raise self.wrong(f"the entries of {name!r} do not fit their places")
        table = np.zeros((n_words, n_classes))
        table[np.repeat(np.arange(n_words), sizes), columns] = values
        return table.T

    def _prior(self, name: str) -> Any:
        given = self.entry(name, dict)
        kind = given.get("kind")
        if kind == "number":
            return self.entry("value", (int, float), given)
        if kind == "fixed":
            return tuple(self.entry("p", list, given))
        if kind == "dirichlet":
            return Dirichlet(self.numbers(f"{name}.alpha").astype(float))
        if kind == "rule":
            rates = {key: given.get(key) for key in ("per_state", "per_row", "per_table")}
            if [isinstance(rate, int | float) and rate >= 0 for rate in rates.values() if rate is not None] != [True]:
                raise self.wrong(f"{name!r} is {given!r:.80}")
            spread = self.numbers(f"{name}.spread").astype(float) if f"{name}.spread" in self.parts else None
            return DirichletRule(**rates, spread=spread)
        raise self.wrong(f"{name!r} is {given!r:.80}")


def require_room(classes: Sized, vocabulary: Sized, path: str) -> None:
    """No table is too large."""
    if len(vocabulary) * len(classes) > MOST_CELLS:
        raise CapacityError(
            f"{path!r}: {len(vocabulary):,} words in {len(classes):,} classes are more than {MOST_CELLS:,} numbers",
            hint="learn with fewer words: min_count, max_size, or a smaller Hashed",
        )
