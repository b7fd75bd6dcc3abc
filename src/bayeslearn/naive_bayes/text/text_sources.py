"""Documents that stay where they are: a column of texts, and one of labels, read batch by batch.

    fold(collect) = collect(batch 1) + collect(batch 2) + …

in CSV and Parquet files, in the answer of DuckDB, in any other source, or in batches of (texts, labels). A missing text
is an empty document, and a missing label is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from bayeslearn import validation
from bayeslearn.errors import ParameterError, ShapeError
from bayeslearn.naive_bayes.text.labels import listed_labels
from bayeslearn.tables.documents import DocumentBatch, DocumentMarkers
from bayeslearn.tables.markers import Missing
from bayeslearn.tables.source_protocol import Folded, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bayeslearn.sources import Engine
    from bayeslearn.sources.file_source import ScanProgress
    from bayeslearn.tables.markers import Markers

S = TypeVar("S")


def scan_texts(
    data: Any,
    text: str | None = None,
    target: str | None = None,
    *,
    sample_weight: str | None = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    engine: Engine | Any = None,
    progress: Callable[[ScanProgress], object] | None = None,
) -> Folded[DocumentBatch]:
    """Documents that are learned from batch by batch.

    Parameters
    ----------
    data
        Paths, patterns or directories of CSV and Parquet files; a DuckDB relation; a table or another source; or
        batches, a list of (texts, labels) or (texts, labels, weights), or a function that returns an iterator of these.
    text, target, sample_weight
        Columns of files, relations and sources: the documents, their classes and weights. Default: ``text`` and, if it
        exists, ``label``.
    na_values, keep_default_na
        Markers of missing values of these columns, as in
        :func:`~bayeslearn.naive_bayes.text.corpus_readers.read_corpus`.
    engine, progress
        As in :func:`~bayeslearn.scan`.
    """
    from bayeslearn.sources.open_source import raw_source  # noqa: PLC0415 - Arrow loads when data come in

    source = raw_source(data, engine=engine, progress=progress)
    if source is not None:
        return source.documents(
            text, target, sample_weight=sample_weight, na_values=na_values, keep_default_na=keep_default_na
        )
    if any(name is not None for name in (text, target, sample_weight)):
        raise ParameterError(
            "batches of (texts, labels) have no columns to name", hint="leave out `text`, `target` and `sample_weight`"
        )
    if Missing.of(na_values, keep_default_na=keep_default_na) != Missing.of():
        raise ParameterError(
            "batches of (texts, labels) have no cells that markers could mark",
            hint='leave out `na_values`: a label of None is missing, and "" is an empty document',
        )
    from bayeslearn.sources.batch_source import require_again  # noqa: PLC0415 - few texts come so

    require_again(data)
    return TextBatches(data)


def folded_documents(data: Any, **given: Any) -> Folded[DocumentBatch] | None:
    """Documents that are folded, which have their labels and weights with them; None for documents in memory."""
    if not isinstance(data, Folded):
        return None
    require_no_arrays(**given)
    return data.documents() if isinstance(data, Source) else data


def require_no_arrays(**given: Any) -> None:
    """What goes with each document of a source is a column of it."""
    odd = next((name for name, value in given.items() if value is not None), None)
    if odd is not None:
        parameter = "target" if odd == "labels" else odd
        raise ParameterError(f"the {odd} of a source are a column of it", hint=f"name it: scan_texts(…, {parameter}=…)")


@dataclass(frozen=True, eq=False)
class TextBatches(Folded[DocumentBatch]):
    """Batches of (texts, labels) or (texts, labels, weights) that somebody else reads."""

    read: Any

    def fold(self, collect: Callable[[DocumentBatch], S]) -> S:
        """The sum over the batches, which are read one after the other and collected side by side."""
        from bayeslearn.sources.base import require_some  # noqa: PLC0415 - few texts come so
        from bayeslearn.sources.engines import ThreadEngine  # noqa: PLC0415

        return require_some(ThreadEngine().fold(collect, self.batches(), lambda _: None), self)

    def batches(self) -> Iterator[DocumentBatch]:
        """The batches in order."""
        from bayeslearn.sources.batch_source import each  # noqa: PLC0415 - few texts come so

        return (plain_batch(number, *given) for number, given in enumerate(each(self.read)))


def plain_batch(number: int, texts: Any, labels: Any = None, sample_weight: Any = None) -> DocumentBatch:
    """A batch as it was given, checked."""
    found = [None] * len(texts) if labels is None else DocumentMarkers().labels(listed_labels(labels))
    if len(found) != len(texts):
        raise ShapeError(f"batch {number} has {len(texts)} documents and {len(found)} labels")
    texts = texts if hasattr(texts, "take") else list(texts)
    return DocumentBatch(texts, found, None if sample_weight is None else validation.weights(sample_weight, len(found)))
