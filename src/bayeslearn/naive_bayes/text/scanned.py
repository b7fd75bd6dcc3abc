"""Documents that stay where they are: a column of texts, and one of labels, read batch by batch.

    fold(collect) = collect(batch 1) + collect(batch 2) + …

in CSV and Parquet files, in the answer of DuckDB, or in batches of (texts, labels). A missing text is an empty
document, and a missing label is None.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import DataError, ParameterError, ShapeError
from bayeslearn.naive_bayes.text.corpus import Cells
from bayeslearn.naive_bayes.text.labels import listed_labels
from bayeslearn.naive_bayes.text.reading import LABEL, TEXT
from bayeslearn.tables.markers import Missing
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from bayeslearn.sources import Engine, Shard
    from bayeslearn.sources.files import Pace
    from bayeslearn.tables.columns import Column
    from bayeslearn.tables.markers import Markers

S = TypeVar("S")

#: Documents that are read at a time.
ROWS = 1 << 12


@dataclass(frozen=True, eq=False)
class Batch:
    """Some documents, the label of each (None where it is not known), and how often each counts."""

    texts: Any
    labels: list[Any]
    weights: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which have a label."""
        return np.array([label is not None for label in self.labels], dtype=bool)

    def take(self, chosen: NDArray[np.bool_]) -> Batch:
        """Some of them."""
        if chosen.all():
            return self
        places = np.flatnonzero(chosen)
        texts = self.texts.take(places) if hasattr(self.texts, "take") else [self.texts[i] for i in places]
        return Batch(texts, [self.labels[i] for i in places], None if self.weights is None else self.weights[chosen])


class TextSource(ABC):
    """Documents that are read again for every pass; :func:`scan_texts` makes one."""

    @abstractmethod
    def fold(self, collect: Callable[[Batch], S]) -> S:
        """Apply `collect` to each batch and add the results, in the order of the documents."""

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """The documents in order, on this machine."""


def scan_texts(
    data: Any,
    text: str | None = None,
    label: str | None = None,
    *,
    weights: str | None = None,
    missing: Markers = (),
    keep_default_na: bool = True,
    engine: Engine | Any = None,
    progress: Callable[[Pace], object] | None = None,
) -> TextSource:
    """Documents that are learned from batch by batch.

    Parameters
    ----------
    data
        Paths, patterns or directories of CSV and Parquet files; a DuckDB relation; or batches, a list of (texts,
        labels) or (texts, labels, weights), or a function that returns an iterator of these.
    text, label, weights
        Columns of files and relations. Without them ``text`` is read and, if it is there, ``label``.
    missing, keep_default_na
        Markers of missing values of files and relations, as in
        :func:`~bayeslearn.naive_bayes.text.reading.read_corpus`.
    engine, progress
        As in :func:`~bayeslearn.scan`.
    """
    from bayeslearn.sources.scanning import is_paths, is_relation  # noqa: PLC0415 - few texts come so

    markers: dict[str, Any] = {"missing": missing, "keep_default_na": keep_default_na}
    if is_paths(data):
        from bayeslearn.sources.opening import engine_of, opened  # noqa: PLC0415 - Arrow loads when data come in
        from bayeslearn.sources.shards import kinds_of, matching  # noqa: PLC0415

        shards = opened(matching(data), {}, skip=False)
        for path in dict.fromkeys(shard.path for shard in shards):
            columns = Columns.among(kinds_of(path), text, label, weights).marked(kinds_of(path), **markers)
        return TextFiles(shards, columns, engine_of(engine), progress)
    if is_relation(data):
        columns = Columns.among(data.columns, text, label, weights).marked(data.columns, **markers)
        return TextRelation(data, columns)
    if any(name is not None for name in (text, label, weights)):
        raise ParameterError(
            "batches of (texts, labels) have no columns to name", hint="leave out `text`, `label` and `weights`"
        )
    if Missing.of(missing, keep_default_na=keep_default_na) != Missing.of():
        raise ParameterError(
            "batches of (texts, labels) have no cells that markers could mark",
            hint='leave out `missing`: a label of None is missing, and "" is an empty document',
        )
    from bayeslearn.sources.batches import require_again  # noqa: PLC0415 - few texts come so

    require_again(data)
    return TextBatches(data)


### where they are


@dataclass(frozen=True)
class Columns:
    """The columns to read."""

    text: str
    label: str | None
    weights: str | None
    cells: Cells = field(default_factory=Cells)

    @classmethod
    def among(cls, names: Iterable[str], text: str | None, label: str | None, weights: str | None) -> Columns:
        """Those that were asked for, all there."""
        names = list(names)
        found = cls(text or TEXT, label or (LABEL if LABEL in names else None), weights)
        require_known(found.names, names)
        return found

    def marked(self, names: Iterable[str], **markers: Any) -> Columns:
        """The same with markers of missing values."""
        return replace(self, cells=Cells.of(**markers, text=self.text, label=self.label, names=names))

    @property
    def names(self) -> tuple[str, ...]:
        """All that are read."""
        return tuple(name for name in (self.text, self.label, self.weights) if name is not None)

    def batch(self, columns: list[Column]) -> Batch:
        """The documents of Arrow columns."""
        by_name = {column.name: column for column in columns}
        texts = by_name[self.text].data
        kinds = getattr(texts.type, "value_type", texts.type)
        if "string" not in str(kinds) and "binary" not in str(kinds) and str(kinds) != "null":
            raise DataError(f"column {self.text!r} holds {kinds}, which is no text", hint="name another with `text`")
        plain = texts.cast(kinds) if kinds is not texts.type else texts
        labels = [None] * len(plain) if self.label is None else by_name[self.label].data.to_pylist()
        w = None
        if self.weights is not None:
            from bayeslearn.tables.columns import column_weights  # noqa: PLC0415 - Arrow loads when data come in

            w = column_weights(by_name[self.weights], Missing.of())
        filled = [""] * len(plain) if str(kinds) == "null" else plain.fill_null("" if "string" in str(kinds) else b"")
        return Batch(self._texts(filled), self.cells.labels(labels), w)

    def _texts(self, filled: Any) -> Any:
        """The documents, those empty that a marker stands for."""
        return self.cells.texts(filled.to_pylist()) if self.cells.text.text and hasattr(filled, "to_pylist") else filled


@dataclass(frozen=True, eq=False)
class TextFiles(TextSource):
    """Columns of CSV and Parquet files."""

    shards: tuple[Shard, ...]
    columns: Columns
    engine: Engine
    progress: Callable[[Pace], object] | None = None

    def fold(self, collect: Callable[[Batch], S]) -> S:
        """The sum over all shards, each read where the engine says."""
        from bayeslearn.sources.base import require_some  # noqa: PLC0415 - Arrow loads when data come in
        from bayeslearn.sources.files import watched  # noqa: PLC0415

        done = watched(self.progress, self.shards)
        return require_some(self.engine.fold(ShardTexts(self.columns, collect), self.shards, done), self)

    def batches(self) -> Iterator[Batch]:
        """The documents in the order of the files."""
        return (batch for shard in self.shards for batch in batches_of(shard, self.columns))


@dataclass(frozen=True)
class ShardTexts:
    """What is made of one shard."""

    columns: Columns
    collect: Callable[[Batch], Any]

    def __call__(self, shard: Shard) -> Any:
        """The sum over one shard; None when it has no rows."""
        from bayeslearn.sources.engines import Sum  # noqa: PLC0415 - where it runs

        total: Sum[Any] = Sum()
        for batch in batches_of(shard, self.columns):
            total.add(self.collect(batch))
        return total.total


def batches_of(shard: Shard, columns: Columns) -> Iterator[Batch]:
    """The documents of a shard."""
    from bayeslearn.sources.reading import read_shard  # noqa: PLC0415 - Arrow loads when data come in

    for found in read_shard(shard, columns.names, ROWS):
        yield columns.batch(found)


@dataclass(frozen=True, eq=False)
class TextStream(TextSource):
    """Batches that are read one after the other and collected side by side."""

    def fold(self, collect: Callable[[Batch], S]) -> S:
        """The sum over the batches."""
        from bayeslearn.sources.base import require_some  # noqa: PLC0415 - few texts come so
        from bayeslearn.sources.engines import Local  # noqa: PLC0415

        return require_some(Local().fold(collect, self.batches(), lambda _: None), self)


@dataclass(frozen=True, eq=False)
class TextRelation(TextStream):
    """Columns of the answer to a question to DuckDB, asked anew for every pass."""

    relation: Any
    columns: Columns

    def batches(self) -> Iterator[Batch]:
        """The documents as DuckDB gives them."""
        from bayeslearn.sources.reading import columns_of_batch  # noqa: PLC0415 - DuckDB is there by now
        from bayeslearn.sources.relations import quoted  # noqa: PLC0415

        asked = self.relation.project(", ".join(map(quoted, self.columns.names)))
        return (self.columns.batch(columns_of_batch(b)) for b in asked.to_arrow_reader(ROWS) if b.num_rows)


@dataclass(frozen=True, eq=False)
class TextBatches(TextStream):
    """Batches of (texts, labels) or (texts, labels, weights) that somebody else reads."""

    read: Any = field(default=())

    def batches(self) -> Iterator[Batch]:
        """The batches in order."""
        from bayeslearn.sources.batches import each  # noqa: PLC0415 - few texts come so

        return (plain_batch(number, *given) for number, given in enumerate(each(self.read)))


def plain_batch(number: int, texts: Any, labels: Any = None, weights: Any = None) -> Batch:
    """A batch as it was given, checked."""
    found = [None] * len(texts) if labels is None else Cells().labels(listed_labels(labels))
    if len(found) != len(texts):
        raise ShapeError(f"batch {number} has {len(texts)} documents and {len(found)} labels")
    texts = texts if hasattr(texts, "take") else list(texts)
    return Batch(texts, found, None if weights is None else validation.weights(weights, len(found)))
