"""Texts in: lists of strings or bytes and string columns, a piece at a time as one stretch of UTF-8.

Arrow columns are such stretches already and are read where they are. Documents in plain ASCII are lower-cased by the
kernel; the others by Python, for all alphabets. Bytes that are not UTF-8 are read as U+FFFD, and counted.
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import BayeslearnWarning, CapacityError, DataError, MissingValuesError, MixedTypesError, outside
from bayeslearn.naive_bayes.text.vocabulary_builder import SPARE, spared

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

#: Characters that are counted together.
PIECE = 1 << 20

#: The longest document, in bytes.
LONGEST = 1 << 30


@dataclass(frozen=True)
class Piece:
    """Documents text[starts[d]:starts[d + 1]] with SPARE bytes; whether all are ASCII, how many were not UTF-8."""

    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    is_ascii: bool = True
    mended: int = 0


class Texts:
    """A column of documents that can be taken piece by piece."""

    def __init__(self, columns: Sequence[Strings | Buffer]) -> None:
        self.columns = columns

    @classmethod
    def of(cls, texts: Any) -> Texts:
        """A list of strings or bytes, or a string column of Arrow, pandas or polars."""
        if isinstance(texts, Texts):
            return texts
        if isinstance(texts, str | bytes):
            raise DataError("expected a list of texts, got a single text", hint="put it in a list: [text]")
        if hasattr(texts, "columns") or getattr(texts, "ndim", 1) != 1:
            raise DataError(f"expected one column of texts, got {type(texts).__name__} with several axes")
        if hasattr(texts, "__arrow_c_stream__") or hasattr(texts, "__arrow_c_array__"):
            return cls(arrow_buffers(texts))
        return cls([Strings(texts.tolist() if isinstance(texts, np.ndarray) else list(texts))])

    def __len__(self) -> int:
        return sum(len(column) for column in self.columns)

    def spans(self) -> list[tuple[Strings | Buffer, int, int, int]]:
        """(column, begin, end, how many documents stand before), each about PIECE characters long."""
        found, before = [], 0
        for column in self.columns:
            ends = np.cumsum(column.lengths())
            cuts = np.flatnonzero(np.diff(ends // PIECE)) + 1
            bounds = [0, *cuts.tolist(), len(ends)]
            found += [(column, a, b, before + a) for a, b in itertools.pairwise(bounds) if a < b]
            before += len(ends)
        return found


### strings


@dataclass(frozen=True)
class Strings:
    """A list of strings and bytes."""

    items: list[Any]

    def __post_init__(self) -> None:
        for i, item in enumerate(self.items):
            if not isinstance(item, str | bytes):
                raise unfit(item, i)

    def __len__(self) -> int:
        return len(self.items)

    def lengths(self) -> NDArray[np.int64]:
        """Characters of each."""
        return np.fromiter(map(len, self.items), np.int64, len(self.items))

    def piece(self, begin: int, end: int, *, lower: bool) -> Piece:
        """Some of the documents."""
        return joined(self.items[begin:end], lower=lower)


def unfit(item: Any, i: int) -> DataError:
    """Why this is no document."""
    if item is None or item != item or type(item).__name__ in {"NAType", "NaTType"}:  # noqa: PLR0124 - NaN
        return MissingValuesError(
            f"document {i} is missing ({item!r})", hint='leave it out, or write "" for an empty document', row=i
        )
    return MixedTypesError(f"document {i} is {type(item).__name__}, expected a text", row=i)


def joined(documents: Iterable[str | bytes], *, lower: bool) -> Piece:
    """Documents as one stretch of UTF-8."""
    mended, is_ascii, coded = 0, True, []
    for document in documents:
        if document.isascii():
            coded.append(document.encode() if isinstance(document, str) else document)
            continue
        is_ascii = False
        if isinstance(document, bytes):
            text, broken = decoded(document)
            mended += broken
        else:
            text = document
        coded.append((text.lower() if lower else text).encode("utf-8", "surrogatepass"))
    starts = np.zeros(len(coded) + 1, np.int64)
    np.cumsum([len(c) for c in coded], out=starts[1:])
    if coded and max(map(len, coded)) > LONGEST:
        raise CapacityError(f"a document has {max(map(len, coded)):,} bytes, more than {LONGEST:,}", hint="cut it up")
    return Piece(np.frombuffer(bytearray().join([*coded, bytes(SPARE)]), np.uint8), starts, is_ascii, mended)


def decoded(document: bytes) -> tuple[str, bool]:
    """The text of some bytes, and whether some of them had to be replaced."""
    try:
        return document.decode(), False
    except UnicodeDecodeError:
        return document.decode("utf-8", "replace"), True


def warn_of_mended(mended: int, total: int) -> None:
    """Warn that some documents were not UTF-8."""
    if mended:
        warnings.warn(
            f"{mended} of {total} documents hold bytes that are not UTF-8; these were read as U+FFFD",
            BayeslearnWarning,
            stacklevel=outside(),
        )


### Arrow


@dataclass(frozen=True)
class Buffer:
    """A string column of Arrow, where it is."""

    text: NDArray[np.uint8]
    offsets: NDArray[Any]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def lengths(self) -> NDArray[np.int64]:
        """Bytes of each."""
        ends = self.offsets.astype(np.int64)
        return ends[1:] - ends[:-1]

    def piece(self, begin: int, end: int, *, lower: bool) -> Piece:
        """Some of the documents, copied once when they are ASCII."""
        starts = self.offsets[begin : end + 1].astype(np.int64)
        text = self.text[starts[0] : starts[-1]]
        starts -= starts[0]
        if not len(text) or text.max() < 128:
            return Piece(spared(text), starts)
        return joined((text[a:b].tobytes() for a, b in itertools.pairwise(starts)), lower=lower)


def arrow_buffers(column: Any) -> list[Buffer]:
    """The buffers of a column that Arrow can read."""
    import pyarrow as pa  # noqa: PLC0415 - only for columns

    chunked = (
        pa.chunked_array(column) if hasattr(column, "__arrow_c_stream__") else pa.chunked_array([pa.array(column)])
    )
    if pa.types.is_dictionary(chunked.type):
        chunked = chunked.cast(chunked.type.value_type)
    if chunked.null_count:
        missing = int(np.flatnonzero(chunked.is_null().to_numpy())[0])
        raise unfit(None, missing)
    if pa.types.is_null(chunked.type) or not len(chunked):
        return []
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    raw = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view)
    if not any(is_kind(chunked.type) for is_kind in kinds + raw):
        raise MixedTypesError(f"expected a column of texts, got one of {chunked.type}")
    if pa.types.is_string_view(chunked.type) or pa.types.is_binary_view(chunked.type):
        chunked = chunked.cast(pa.large_binary())
    return [buffer_of(chunk) for chunk in chunked.chunks if len(chunk)]


def buffer_of(array: Any) -> Buffer:
    """The bytes and offsets of one Arrow array."""
    wide = "large" in str(array.type)
    _, offsets, text = array.buffers()
    ends = np.frombuffer(offsets, np.int64 if wide else np.int32)[array.offset : array.offset + len(array) + 1]
    return Buffer(np.frombuffer(text, np.uint8) if text else np.empty(0, np.uint8), ends)
