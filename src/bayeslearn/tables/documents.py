"""Documents and runs of rows, in columns.

One column has texts, one labels, and perhaps one has the weights.

A missing text is an empty document, and a missing label is None.

A run is the rows with one id that follow each other, brought together across batches.

    batches    a a a b b b | b b c c c c | c c d        runs    a · b · c · d

A run that a batch leaves open goes on in the next one of the same file. An id is only compared with the one before it,
so that there may be any number of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import DataError
from bayeslearn.tables.markers import Missing, is_missing
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.tables.columns import Column
    from bayeslearn.tables.markers import Markers


#: The columns that are read when none are named.
TEXT, LABEL = "text", "label"


@dataclass(frozen=True, eq=False)
class DocumentBatch:
    """Some documents, the label of each (None where it is not known), and how often each counts."""

    texts: Any
    labels: list[Any]
    sample_weight: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which have a label."""
        return np.array([label is not None for label in self.labels], dtype=bool)

    def take(self, chosen: NDArray[np.bool_]) -> DocumentBatch:
        """Some of them."""
        if chosen.all():
            return self
        places = np.flatnonzero(chosen)
        texts = self.texts.take(places) if hasattr(self.texts, "take") else [self.texts[i] for i in places]
        weights = None if self.sample_weight is None else self.sample_weight[chosen]
        return DocumentBatch(texts, [self.labels[i] for i in places], weights)


@dataclass(frozen=True)
class DocumentMarkers:
    """The markers of missing values of a table of documents: of its texts and of its labels."""

    text: Missing = field(default_factory=lambda: Missing.of(keep_default_na=False))
    label: Missing = field(default_factory=Missing.of)

    @classmethod
    def of(
        cls, na_values: Markers, *, keep_default_na: bool, text: str, label: str | None, names: Iterable[str]
    ) -> DocumentMarkers:
        """Markers as the user gives them; the default ones are of labels only, since NA may be a text."""
        given = Missing.of(na_values, keep_default_na=False)
        require_known(given.by_column, names)
        labels = Missing.of(na_values, keep_default_na=keep_default_na)
        return cls(given.of_column(text), labels if label is None else labels.of_column(label))

    def texts(self, cells: Iterable[str | None]) -> list[str]:
        """Documents; a missing one is empty."""
        if not self.text.text:
            return [cell or "" for cell in cells]
        return ["" if self.text.marks(cell) else cell or "" for cell in cells]

    def labels(self, cells: Iterable[Any]) -> list[Any]:
        """Labels; a missing one is None."""
        return [None if is_missing(cell) or self.label.marks(cell) else cell for cell in cells]


@dataclass(frozen=True)
class DocumentColumns:
    """The columns of documents, which it reads as batches; it may travel."""

    text: str
    label: str | None
    sample_weight: str | None
    markers: DocumentMarkers = field(default_factory=DocumentMarkers)

    @classmethod
    def among(
        cls, every: Sequence[Iterable[str]], text: str | None, label: str | None, sample_weight: str | None, *,
        na_values: Markers, keep_default_na: bool,
    ) -> DocumentColumns:  # fmt: skip
        """Those that were asked for, in every file; the default label only where there is one."""
        lists = [list(names) for names in every]
        text, label = text or TEXT, label or (LABEL if any(LABEL in names for names in lists) else None)
        for names in lists:
            require_known([name for name in (text, label, sample_weight) if name is not None], names)
            markers = DocumentMarkers.of(
                na_values, keep_default_na=keep_default_na, text=text, label=label, names=names
            )
        return cls(text, label, sample_weight, markers)

    @property
    def names(self) -> tuple[str, ...]:
        """All that are read."""
        return tuple(name for name in (self.text, self.label, self.sample_weight) if name is not None)

    def __call__(self, columns: list[Column]) -> DocumentBatch:
        """The documents of Arrow columns."""
        by_name = {column.name: column for column in columns}
        require_known(self.names, by_name)
        texts = by_name[self.text].data
        kind = "objects" if isinstance(texts, list) else str(getattr(texts.type, "value_type", texts.type))
        if "string" not in kind and "binary" not in kind and kind != "null":
            raise DataError(f"column {self.text!r} holds {kind}, which is no text", hint="name another with `text`")
        n, labels, w = len(texts), [None] * len(texts), None
        if self.label is not None:
            cells = by_name[self.label].data
            labels = cells if isinstance(cells, list) else cells.to_pylist()
        if self.sample_weight is not None:
            from bayeslearn.tables.columns import column_weights  # noqa: PLC0415 - Arrow loads when data come in

            w = column_weights(by_name[self.sample_weight], Missing.of())
        return DocumentBatch([""] * n if kind == "null" else self._texts(texts, kind), self.markers.labels(labels), w)

    def _texts(self, texts: Any, kind: str) -> Any:
        """The documents, those empty that are missing or that a marker stands for."""
        plain = texts.cast(texts.type.value_type) if hasattr(texts.type, "value_type") else texts
        filled = plain.fill_null("" if "string" in kind else b"")
        return self.markers.texts(filled.to_pylist()) if self.markers.text.text else filled


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs one after the other: arrays with a row for every row (or None), the rows of each run, and its id."""

    arrays: tuple[NDArray[Any] | None, ...]
    lengths: NDArray[np.int64]
    ids: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, start: int, stop: int) -> Runs:
        """Some runs that follow each other."""
        ends = np.concatenate([[0], np.cumsum(self.lengths)])
        rows = slice(ends[start], ends[stop])
        arrays = tuple(None if array is None else array[rows] for array in self.arrays)
        return Runs(arrays, self.lengths[start:stop], self.ids[start:stop])


@dataclass(frozen=True)
class RunReader:
    """Reads columns as runs; it may travel."""

    id: str
    missing: Missing
    read: Callable[[list[Column]], tuple[Any, ...]]

    def __call__(self, columns: list[Column]) -> Runs:
        """The rows of a batch, split where the id changes; the first and the last run may be part of a longer one."""
        from bayeslearn.tables.columns import levels  # noqa: PLC0415 - Arrow loads when data come in

        by_name = {column.name: column for column in columns}
        require_known([self.id], by_name)
        found = levels(by_name[self.id], self.missing)
        if found.place.min(initial=0) < 0:
            row = int(np.argmax(found.place < 0))
            raise DataError(
                f"row {row} has no {self.id!r}: it belongs to no sequence",
                hint="give every row the id of its sequence, or leave the row out",
                row=row,
            )
        first = np.concatenate([[0], np.flatnonzero(np.diff(found.place)) + 1])
        values = found.listed()
        lengths = np.diff(first, append=len(found.place)).astype(np.int64)
        return Runs(self.read(columns), lengths, tuple(values[k] for k in found.place[first]))


def whole(pieces: Iterable[Runs]) -> Iterator[Runs]:
    """Runs from end to end: the last of a batch waits for the next one."""
    held: list[Runs] = []
    for piece in pieces:
        if len(piece) == 1 and (not held or held[-1].ids[-1] == piece.ids[0]):
            held.append(piece)
            continue
        both = joined([*held, piece])
        yield both.part(0, len(both) - 1)
        held = [both.part(len(both) - 1, len(both))]
    if held:
        yield joined(held)


def joined(parts: list[Runs]) -> Runs:
    """One after the other; where two meet that have one id, they are one run."""
    if len(parts) == 1:
        return parts[0]
    columns = zip(*(part.arrays for part in parts), strict=True)
    arrays = tuple(None if some[0] is None else np.concatenate(some) for some in columns)
    both = Runs(arrays, np.concatenate([p.lengths for p in parts]), tuple(name for p in parts for name in p.ids))
    runs = zip(both.ids, both.lengths.tolist(), strict=True)
    together = [(name, sum(n for _, n in same)) for name, same in groupby(runs, key=lambda run: run[0])]
    ids, lengths = zip(*together, strict=True)
    return replace(both, lengths=np.array(lengths, np.int64), ids=ids)
